import { Check, Columns3 } from "lucide-react"
import { buttonClasses } from "../ui/actions/Button.tsx"
import { Menu, MenuItem } from "../ui/actions/Menu.tsx"
import { createStored } from "../ui/stored.ts"

/** The list columns that can be hidden. */
const optional = [
  ["due", "Due"],
  ["result", "Result"],
  ["trigger", "Trigger"],
  ["attempts", "Attempts"],
  ["late", "Late by"],
  ["duration", "Duration"],
  ["id", "Id"]
] as const

type OptionalColumn = (typeof optional)[number][0]

/** The columns that this browser shows. */
export const shownColumns = createStored<ReadonlyArray<OptionalColumn>>("execution-columns", [
  "due",
  "result",
  "late",
  "duration"
])

export const optionalColumns: ReadonlyArray<OptionalColumn> = optional.map(([key]) => key)

export const ColumnsMenu = () => {
  const shown = shownColumns.use()
  return (
    <Menu
      label="Columns"
      className={buttonClasses({}, "max-md:hidden")}
      button={
        <span aria-hidden className="flex items-center gap-2">
          <Columns3 />
          Columns
        </span>
      }
    >
      {optional.map(([column, name]) => (
        <MenuItem
          key={column}
          isChecked={shown.includes(column)}
          icon={shown.includes(column) && <Check />}
          onSelect={() =>
            shownColumns.set(
              optionalColumns.filter((one) => (one === column) !== shown.includes(one))
            )
          }
        >
          {name}
        </MenuItem>
      ))}
    </Menu>
  )
}
