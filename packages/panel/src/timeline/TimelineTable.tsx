import { describePause, markKindNames, pauseBetween } from "./describeLane.ts"
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
          <th className="py-2 pl-2 font-medium">Paused</th>
        </tr>
      </thead>
      <tbody>
        {lanes.map((lane) => (
          <tr key={lane.key} className="border-t border-line">
            <th scope="row" className="min-w-36 py-1.5 pr-4 text-left font-normal wrap-anywhere">
              {lane.name}
            </th>
            {markKindNames.map(([kind]) => (
              <td key={kind} className="px-2 py-1.5 text-right">
                {countBetween(lane.marks[kind], view.from, view.to) || ""}
              </td>
            ))}
            <td className="py-1.5 pl-2 whitespace-nowrap">{pausedText(lane, view)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const pausedText = (lane: Lane, { from, to }: View): string => {
  const pause = pauseBetween(lane, from, to)
  return pause === undefined ? "" : describePause(pause) || "yes"
}
