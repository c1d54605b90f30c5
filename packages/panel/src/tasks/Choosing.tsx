import { createContext, use } from "react"
import type { Column } from "../ui/lists/List.tsx"
import type { Selection } from "./useSelection.ts"

/** A context, so that a row is not drawn again when another is chosen or further ones are read. */
export const SelectionOf = createContext<Selection>({
  chosen: [],
  count: 0,
  has: () => false,
  toggle: () => {},
  all: () => {},
  none: () => {}
})

const box = "size-4 shrink-0 cursor-pointer accent-ink"

const ChooseAll = () => {
  const { all, chosen, count, none } = use(SelectionOf)
  const isAll = count > 0 && chosen.length === count
  return (
    <input
      type="checkbox"
      aria-label="Select all that are loaded"
      disabled={count === 0}
      className={`${box} translate-y-0.5`}
      checked={isAll}
      onChange={isAll ? none : all}
    />
  )
}

interface Row {
  readonly id: string
  readonly name: string | null
}

const Choose = ({ row }: { readonly row: Row }) => {
  const { has, toggle } = use(SelectionOf)
  return (
    // The finger may miss the box by a bit.
    <label className="absolute -inset-4 grid cursor-pointer place-items-center">
      <input
        type="checkbox"
        aria-label={`Select ${row.name ?? row.id}`}
        className={box}
        checked={has(row)}
        onChange={() => toggle(row)}
      />
    </label>
  )
}

export const choosing: Column<Row> = {
  key: "choose",
  head: <ChooseAll />,
  // On a phone the width is for the names.
  className: "relative z-10 w-4 shrink-0 max-sm:hidden",
  cell: (row) => <Choose row={row} />
}
