import { ApiError, ConnectionError } from "@scheduling/sdk"
import { TriangleAlert } from "lucide-react"
import { Button } from "../actions/Button.tsx"
import { CopyText } from "../values/Copy.tsx"

export const messageOf = (error: unknown): string =>
  error instanceof ConnectionError
    ? "The service cannot be reached. It may be restarting."
    : error instanceof Error
      ? error.message
      : String(error)

/** What went wrong, in the words of the API, with what its operator needs to find it in the logs. */
export const Problem = ({
  error,
  retry
}: {
  readonly error: unknown
  readonly retry?: (() => void) | undefined
}) => {
  if (error === undefined || error === null) return null
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <div role="alert" className="flex gap-3 rounded-lg border border-bad/30 tint-bad px-3.5 py-3">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="min-w-0 grow">
        <p className="break-words">{messageOf(error)}</p>
        {requestId !== undefined && (
          <p className="mt-0.5 text-xs text-soft">
            Request <CopyText text={requestId} />
          </p>
        )}
      </div>
      {retry !== undefined && (
        <Button size="small" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}
