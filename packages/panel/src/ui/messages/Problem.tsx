import { ApiError, ConnectionError, ForbiddenError } from "@scheduling/sdk"
import { TriangleAlert } from "lucide-react"
import { use } from "react"
import { Button } from "../actions/Button.tsx"
import { RoleContext } from "../role.tsx"
import { CopyText } from "../values/Copy.tsx"

export const messageOf = (error: unknown): string =>
  error instanceof ConnectionError
    ? "The service cannot be reached. It may be restarting."
    : error instanceof ApiError
      ? error.reason
      : error instanceof Error
        ? error.message
        : String(error)

/** True if retrying the request may help. A retry does not change most 4xx responses. */
const isRetryable = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || [401, 408, 429].includes(error.status)

/**
 * Shows the API's error message, with the request id by which the operator finds the error in the
 * logs.
 */
export const Problem = ({
  error,
  retry
}: {
  readonly error: unknown
  readonly retry?: (() => unknown) | undefined
}) => {
  const role = use(RoleContext)
  if (error === undefined || error === null) return null
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <div role="alert" className="flex gap-3 rounded-lg border border-bad/30 tint-bad px-3.5 py-3">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="min-w-0 grow">
        <p className="wrap-anywhere">{messageOf(error)}</p>
        {error instanceof ForbiddenError && (
          <p className="text-sm text-soft">
            {role !== undefined && `You are ${role === "viewer" ? "a" : "an"} ${role}. `}
            An owner or an admin can change your role.
          </p>
        )}
        {requestId !== undefined && (
          <p className="mt-0.5 text-xs text-soft">
            Request <CopyText text={requestId} />
          </p>
        )}
      </div>
      {retry !== undefined && isRetryable(error) && (
        <Button size="small" onClick={() => void retry()}>
          Try again
        </Button>
      )}
    </div>
  )
}
