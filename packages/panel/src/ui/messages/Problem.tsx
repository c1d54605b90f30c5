import { ApiError, ConnectionError, ForbiddenError } from "@scheduling/sdk"
import { TriangleAlert } from "lucide-react"
import { use, useEffect, useEffectEvent, useState } from "react"
import { Button } from "../actions/Button.tsx"
import { RoleContext } from "../role.tsx"
import { now, useNow } from "../values/clock.ts"
import { CopyableText } from "../values/Copy.tsx"

export const messageOf = (error: unknown): string =>
  error instanceof ConnectionError
    ? "The service cannot be reached. It may be restarting."
    : error instanceof ApiError
      ? error.reason
      : error instanceof Error
        ? error.message
        : String(error)

/** True if retrying the request could help. A retry does not change most 4xx responses. */
const isRetryable = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || [401, 408, 429].includes(error.status)

/** True if the record no longer exists. */
export const isGone = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 404 || error.status === 410)

/** The delay before a failed request is retried, unless the service specifies another one. */
const retryMs = 5_000

/**
 * Returns the delay before the request is retried automatically. Undefined if it is not retried.
 */
const retryDelayOf = (error: unknown): number | undefined => {
  if (error instanceof ConnectionError) return retryMs
  if (!(error instanceof ApiError)) return undefined
  const seconds = Number(error.headers.get("retry-after") ?? Number.NaN)
  if (error.status === 429) return (seconds > 0 ? seconds : 5) * 1_000
  return error.status >= 500 ? retryMs : undefined
}

/** The actions that a user can take on an error, shown below its message. */
const Advice = ({ error }: { readonly error: unknown }) => {
  const role = use(RoleContext)
  if (error instanceof ForbiddenError) {
    return (
      <p className="text-sm text-soft">
        {role !== undefined && `You are ${role === "viewer" ? "a" : "an"} ${role}. `}
        An owner or an admin can change your role.
      </p>
    )
  }
  if (!(error instanceof ApiError)) return null
  const [workspace] = /^\/w\/[^/]+/.exec(location.pathname) ?? []
  if (error.status === 402 && workspace !== undefined) {
    return (
      <p className="text-sm">
        {/* Opens in a new tab, because the form behind the message keeps its input. */}
        <a
          href={`${workspace}/usage`}
          target="_blank"
          className="font-medium text-live hover:underline"
        >
          Show the limits and the plan
        </a>
      </p>
    )
  }
  return isGone(error) ? (
    <p className="text-sm text-soft">It may have been deleted, or the address is wrong.</p>
  ) : null
}

/**
 * An error's message, what to do about it, and the request id that the operator can search the logs
 * for.
 */
export const ProblemText = ({ error }: { readonly error: unknown }) => {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <>
      <p className="wrap-anywhere">{messageOf(error)}</p>
      <Advice error={error} />
      {requestId !== undefined && (
        <p className="mt-0.5 text-xs text-soft">
          Request <CopyableText text={requestId} />
        </p>
      )}
    </>
  )
}

/**
 * Shows an error. With `retry`, a request that failed because of the service or the rate limit is
 * retried automatically.
 */
export const Problem = ({
  error,
  retry
}: {
  readonly error: unknown
  readonly retry?: (() => unknown) | undefined
}) => {
  if (error === undefined || error === null) return null
  return (
    <div role="alert" className="flex gap-3 rounded-lg border border-bad/30 tint-bad px-3.5 py-3">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="min-w-0 grow">
        <ProblemText error={error} />
        {retry !== undefined && <Repetition error={error} retry={retry} />}
      </div>
      {retry !== undefined && isRetryable(error) && (
        <Button size="small" onClick={() => void retry()}>
          Try again
        </Button>
      )}
    </div>
  )
}

/**
 * Retries a failed request until it succeeds, while the tab is visible, and shows the time of the
 * next attempt.
 */
const Repetition = ({
  error,
  retry
}: {
  readonly error: unknown
  readonly retry: () => unknown
}) => {
  const delayMs = retryDelayOf(error)
  const repeat = useEffectEvent(() => !document.hidden && void retry())
  useEffect(() => {
    if (delayMs === undefined) return
    const timer = window.setInterval(repeat, delayMs)
    return () => window.clearInterval(timer)
  }, [error, delayMs])
  if (delayMs === undefined) return null
  return (
    <p className="text-sm text-soft">
      {error instanceof ApiError && error.status === 429 ? (
        <Countdown key={delayMs} delayMs={delayMs} />
      ) : (
        "The page retries automatically."
      )}
    </p>
  )
}

const Countdown = ({ delayMs }: { readonly delayMs: number }) => {
  const [until] = useState(() => now() + delayMs)
  const seconds = Math.max(1, Math.ceil((until - useNow()) / 1_000))
  return (
    <>
      The page continues <span aria-hidden>in {seconds} s</span>.
    </>
  )
}
