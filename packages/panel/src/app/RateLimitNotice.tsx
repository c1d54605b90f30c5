import { rateLimitedUntil } from "../data/rateLimit.ts"
import { useNow } from "../ui/values/clock.ts"
import { Spinner } from "../ui/messages/Spinner.tsx"

/**
 * Shows how long the rate limit delays requests. A popover, so that it appears above dialogs too.
 */
export const RateLimitNotice = () => {
  const until = rateLimitedUntil.use()
  return until !== undefined && <Notice key={until} until={until} />
}

const Notice = ({ until }: { readonly until: number }) => {
  const seconds = Math.max(1, Math.ceil((until - useNow()) / 1_000))
  return (
    <div
      ref={(element) => element?.showPopover()}
      popover="manual"
      role="status"
      className="fixed inset-auto bottom-4 left-1/2 m-0 flex w-max max-w-[calc(100vw-2rem)] -translate-x-1/2 items-center gap-2.5 rounded-lg border border-warn/40 bg-raised px-3.5 py-2.5 text-ink shadow-float"
    >
      <Spinner className="text-warn" />
      Too many requests. The page continues <span aria-hidden>in {seconds} s</span>.
    </div>
  )
}
