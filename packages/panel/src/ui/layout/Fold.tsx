import type { ReactNode } from "react"

/** A collapsible section for advanced options. It expands if a value in it is invalid. */
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
    // The browser shows its validation message only at a visible field.
    onInvalidCapture={(event) => (event.currentTarget.open = true)}
  >
    <summary className="inline-flex list-none items-center gap-2 rounded-md text-sm font-medium text-live hover:underline [&_svg]:size-4 [&::-webkit-details-marker]:hidden">
      {icon}
      {summary}
    </summary>
    <div className="mt-3">{children}</div>
  </details>
)
