import type { ReactNode } from "react"

/** What few people need: it is there, and out of the way. */
export const Fold = ({
  children,
  icon,
  summary
}: {
  readonly summary: ReactNode
  readonly icon?: ReactNode
  readonly children: ReactNode
}) => (
  <details className="group">
    <summary className="inline-flex list-none items-center gap-2 rounded-md text-sm font-medium text-live hover:underline [&::-webkit-details-marker]:hidden">
      {icon}
      {summary}
    </summary>
    <div className="mt-3">{children}</div>
  </details>
)
