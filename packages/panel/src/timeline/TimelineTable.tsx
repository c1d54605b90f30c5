import { markKindNames } from "./describeLane.ts"
import { countBetween, type Lane } from "./lanes.ts"
import type { View } from "./view.ts"

/**
 * A table with the counts for all lanes in the shown period, for users who cannot see the canvas.
 */
export const TimelineTable = ({
  lanes,
  view
}: {
  readonly lanes: ReadonlyArray<Lane>
  readonly view: View
}) => (
  <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Timeline as a table">
    <table className="w-full text-sm nums">
      <thead>
        <tr className="text-left text-faint">
          <th className="py-2 pr-4 font-medium">Lane</th>
          {markKindNames.map(([kind, , many]) => (
            <th key={kind} className="px-2 py-2 text-right font-medium first-letter:uppercase">
              {many}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {lanes.map(({ key, marks, name }) => (
          <tr key={key} className="border-t border-line">
            <th scope="row" className="py-1.5 pr-4 text-left font-normal wrap-anywhere">
              {name}
            </th>
            {markKindNames.map(([kind]) => (
              <td key={kind} className="px-2 py-1.5 text-right">
                {countBetween(marks[kind], view.from, view.to) || ""}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
