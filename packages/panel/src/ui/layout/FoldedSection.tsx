import { ChevronRight } from "lucide-react"
import { type ReactNode, useState } from "react"

/** A section that is closed at first. Its content is rendered, and fetched, once it is opened. */
export const FoldedSection = ({
  children,
  note,
  title
}: {
  readonly title: string
  readonly note?: string
  readonly children: ReactNode
}) => {
  const [wasOpened, setOpened] = useState(false)
  return (
    <details className="group min-w-0" onToggle={() => setOpened(true)}>
      <summary className="flex list-none flex-wrap items-center gap-x-2 rounded-md pointer-coarse:min-h-10 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-4 shrink-0 text-faint transition-transform duration-100 group-open:rotate-90"
        />
        <h2 className="text-base font-semibold">{title}</h2>
        {note !== undefined && <span className="text-sm text-faint">{note}</span>}
      </summary>
      {wasOpened && <div className="mt-4 flex min-w-0 flex-col gap-8">{children}</div>}
    </details>
  )
}
