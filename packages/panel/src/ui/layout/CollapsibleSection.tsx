import type { ReactNode } from "react"

/** A collapsible section for advanced options. It expands if a value in it is invalid. */
export const CollapsibleSection = ({
  children,
  count = 0,
  icon,
  summary
}: {
  readonly summary: ReactNode
  readonly icon?: ReactNode
  /** The number of the section's options that are set. */
  readonly count?: number
  readonly children: ReactNode
}) => (
  <details
    className="group"
    // Open the section, because the browser shows validation messages only at visible fields.
    onInvalidCapture={(event) => (event.currentTarget.open = true)}
  >
    <summary className="inline-flex list-none items-center gap-2 rounded-md text-sm font-medium text-live hover:underline pointer-coarse:min-h-10 [&_svg]:size-4 [&::-webkit-details-marker]:hidden">
      {icon}
      {summary}
      {count > 0 && <span className="font-normal text-faint">{count} set</span>}
    </summary>
    <div className="mt-3">{children}</div>
  </details>
)
