import type { ReactNode } from "react"

/** What few people need: it is there, and out of the way. It opens if the browser refuses a value in it. */
export const Fold = ({
  children,
  icon,
  summary
}: {
  readonly summary: ReactNode
  readonly icon?: ReactNode
  readonly children: ReactNode
}) => (
  <details
    className="group"
    // The browser says what is wrong only where it can be seen.
    onInvalidCapture={(event) => (event.currentTarget.open = true)}
  >
    <summary className="inline-flex list-none items-center gap-2 rounded-md text-sm font-medium text-live hover:underline [&::-webkit-details-marker]:hidden">
      {icon}
      {summary}
    </summary>
    <div className="mt-3">{children}</div>
  </details>
)
