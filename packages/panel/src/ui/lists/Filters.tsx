import { Search, SlidersHorizontal } from "lucide-react"
import { type ReactNode, useEffect, useState } from "react"
import { Button } from "../actions/Button.tsx"
import { classes } from "../classes.ts"
import { useFilterText } from "./useFilterText.ts"

export const Filters = ({ children }: { readonly children: ReactNode }) => (
  <div role="search" className="mb-4 flex flex-wrap items-center gap-2">
    {children}
  </div>
)

/** Filters that a phone hides behind a button, because they would fill its screen. */
export const FoldedFilters = ({
  children,
  count
}: {
  readonly children: ReactNode
  /** The number of filters that are set. */
  readonly count: number
}) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button
        icon={<SlidersHorizontal />}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="sm:hidden"
      >
        Filters{count > 0 && ` (${count})`}
      </Button>
      <div className={classes("contents", !isOpen && "max-sm:hidden")}>{children}</div>
    </>
  )
}

/** Filters a list by name, 200 ms after the last keystroke. */
export const NameFilter = ({
  label,
  onChange,
  value
}: {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}) => {
  const { apply, setText, text } = useFilterText(value ?? "")
  useEffect(() => {
    const next = text.trim()
    if (next === (value ?? "")) return
    const timer = window.setTimeout(() => {
      apply(next)
      onChange(next || undefined)
    }, 200)
    return () => window.clearTimeout(timer)
  }, [text, value, onChange, apply])
  return (
    <label className="relative w-full sm:w-72">
      <span className="sr-only">{label}</span>
      <Search
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-faint"
      />
      <input
        type="search"
        value={text}
        maxLength={200}
        placeholder={label}
        onChange={(event) => setText(event.target.value)}
        className="h-9 w-full rounded-lg border border-line bg-surface pr-3 pl-9 shadow-card pointer-coarse:h-10 pointer-coarse:text-lg transition-colors duration-100 hover:border-edge focus:border-live focus:outline-2 focus:outline-offset-0 focus:outline-live/30"
      />
    </label>
  )
}
