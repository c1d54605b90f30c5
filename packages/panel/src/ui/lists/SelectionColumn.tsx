import { createContext, use } from "react"
import type { Column } from "./List.tsx"
import type { Selection } from "./useSelection.ts"

/** The selection is in a context, so that changing it does not re-render all rows. */
export const SelectionContext = createContext<Selection>({
  chosen: [],
  count: 0,
  has: () => false,
  toggle: () => {},
  all: () => {},
  none: () => {}
})

const box = "size-4 shrink-0 cursor-pointer accent-ink"

const SelectAll = ({ noun }: { readonly noun: string }) => {
  const { all, chosen, count, none } = use(SelectionContext)
  const isAll = count > 0 && chosen.length === count
  return (
    <input
      type="checkbox"
      aria-label={`Select all loaded ${noun}s`}
      disabled={count === 0}
      className={`${box} translate-y-0.5`}
      checked={isAll}
      onChange={isAll ? none : all}
    />
  )
}

interface Row {
  readonly id: string
}

const SelectRow = ({ name, row }: { readonly name: string; readonly row: Row }) => {
  const { has, toggle } = use(SelectionContext)
  return (
    // The label makes the click target larger than the checkbox.
    <label className="absolute -inset-4 grid cursor-pointer place-items-center">
      <input
        type="checkbox"
        aria-label={`Select ${name}`}
        className={box}
        checked={has(row)}
        onChange={() => toggle(row)}
      />
    </label>
  )
}

export const selectionColumn = <One extends Row>(
  noun: string,
  nameOf: (row: One) => string
): Column<One> => ({
  key: "choose",
  head: <SelectAll noun={noun} />,
  className: "relative z-10 w-4 shrink-0 max-sm:hidden",
  cell: (row) => <SelectRow row={row} name={nameOf(row)} />
})
