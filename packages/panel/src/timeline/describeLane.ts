import { formatShortDateTime } from "../ui/values/format.ts"
import { countBetween, type Lane, type MarkKind, type Pause } from "./lanes.ts"

/** The kinds of marks and their names, most important first. */
export const markKindNames: ReadonlyArray<readonly [MarkKind, one: string, many: string]> = [
  ["incident", "incident", "incidents"],
  ["failed", "failed", "failed"],
  ["succeeded", "succeeded", "succeeded"],
  ["other", "cancelled or skipped", "cancelled or skipped"],
  ["running", "queued or running", "queued or running"],
  ["planned", "planned", "planned"],
  ["change", "change", "changes"],
  ["notification", "notification", "notifications"]
]

/** Returns who paused a record and when: `by Ada since 27 Nov, 14:00`. */
export const describePause = ({ by, from, reason, to }: Pause): string =>
  [
    ...(by === undefined ? [] : [`by ${by}`]),
    ...(from === -Infinity
      ? []
      : to === Infinity
        ? [`since ${formatShortDateTime(from)}`]
        : [`from ${formatShortDateTime(from)} to ${formatShortDateTime(to)}`]),
    ...(reason === null ? [] : [`(${reason})`])
  ].join(" ")

/** Returns the last pause that overlaps a period. */
export const pauseBetween = ({ pauses }: Lane, start: number, end: number): Pause | undefined =>
  pauses.findLast(({ from, to }) => from < end && to > start)

/** Describes a lane's marks within a few pixels of the given time. */
export const describeLane = (lane: Lane, at: number, msPerPixel: number): string => {
  const around = 4 * msPerPixel
  const pause = pauseBetween(lane, at - around, at + around)
  const parts = markKindNames.flatMap(([kind, one, many]) => {
    const count = countBetween(lane.marks[kind], at - around, at + around)
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
  })
  const texts = pause === undefined ? parts : [...parts, `paused ${describePause(pause)}`.trim()]
  return `${lane.name}, ${formatShortDateTime(at)}: ${texts.join(", ") || "nothing"}`
}
