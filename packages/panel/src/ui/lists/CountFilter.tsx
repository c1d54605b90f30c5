import { classes } from "../classes.ts"
import { Dot, toneOf } from "../values/Status.tsx"

/** Filters a list by one status, and shows how many records have each. */
export const CountFilter = <Value extends string>({
  chosen,
  counts,
  label,
  onChange
}: {
  readonly label: string
  readonly counts: ReadonlyArray<readonly [value: Value, name: string, count: number]>
  readonly chosen: Value | undefined
  readonly onChange: (value: Value | undefined) => void
}) => (
  <div role="group" aria-label={label} className="flex flex-wrap gap-1.5">
    {counts
      .filter(([value, , count]) => count > 0 || value === chosen)
      .map(([value, name, count]) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === chosen}
          onClick={() => onChange(value === chosen ? undefined : value)}
          className={classes(
            "flex h-9 items-center gap-2 rounded-lg border px-3 text-sm font-medium shadow-card transition-colors duration-100",
            value === chosen
              ? "border-ink bg-raised"
              : "border-line bg-surface text-soft hover:border-edge hover:text-ink"
          )}
        >
          <Dot tone={toneOf(value)} />
          {name}
          <span className="nums text-faint">{count}</span>
        </button>
      ))}
  </div>
)
