import { type KeyboardEvent, type ReactNode, useId } from "react"
import { classes } from "../classes.ts"

/** Tabs within a page. The arrow keys move between them. */
export const Tabs = <Key extends string>({
  children,
  chosen,
  label,
  onChoose,
  tabs
}: {
  readonly label: string
  readonly chosen: Key
  readonly tabs: ReadonlyArray<readonly [key: Key, name: ReactNode]>
  readonly onChoose: (key: Key) => void
  readonly children: ReactNode
}) => {
  const id = useId()
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const at = tabs.findIndex(([key]) => key === chosen)
    const [next] = tabs[(at + step + tabs.length) % tabs.length] ?? []
    if (next === undefined) return
    event.preventDefault()
    onChoose(next)
    document.getElementById(`${id}-${next}`)?.focus()
  }
  return (
    <>
      <div
        role="tablist"
        aria-label={label}
        className="mb-3 flex gap-3 overflow-x-auto overflow-y-hidden border-b border-line"
        onKeyDown={onKeyDown}
      >
        {tabs.map(([key, name]) => (
          <button
            key={key}
            id={`${id}-${key}`}
            type="button"
            role="tab"
            aria-selected={key === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={key === chosen ? 0 : -1}
            onClick={() => onChoose(key)}
            className={classes(
              "-mb-px border-b-2 px-0.5 pb-2 text-sm font-medium whitespace-nowrap pointer-coarse:pt-2.5 transition-colors duration-100",
              key === chosen
                ? "border-ink text-ink"
                : "border-transparent text-faint hover:text-ink"
            )}
          >
            {name}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  )
}
