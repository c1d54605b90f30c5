import { classes } from "../classes.ts"
import { StatusDot, toneOf } from "../values/Status.tsx"

/** Filters a list by one or more statuses, and shows the number of records with each status. */
export const CountFilter = <Value extends string>({
  chosen,
  counts,
  label,
  onToggle
}: {
  readonly label: string
  readonly counts: ReadonlyArray<readonly [value: Value, name: string, count?: number]>
  readonly chosen: ReadonlyArray<Value>
  readonly onToggle: (value: Value) => void
}) => (
  <div role="group" aria-label={label} className="flex flex-wrap gap-1.5 max-sm:contents">
    {counts
      .filter(([value, , count]) => count !== 0 || chosen.includes(value))
      .map(([value, name, count]) => (
        <button
          key={value}
          type="button"
          aria-pressed={chosen.includes(value)}
          onClick={() => onToggle(value)}
          className={classes(
            "flex h-9 items-center gap-2 rounded-lg border px-3 text-sm font-medium shadow-card transition-colors duration-100 pointer-coarse:h-10",
            chosen.includes(value)
              ? "border-ink bg-raised"
              : "border-line bg-surface text-soft hover:border-edge hover:text-ink"
          )}
        >
          <StatusDot tone={toneOf(value)} />
          {name}
          {count !== undefined && <span className="nums text-faint">{count}</span>}
        </button>
      ))}
  </div>
)
