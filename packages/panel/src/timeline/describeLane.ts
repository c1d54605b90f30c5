import { formatShortDateTime } from "../ui/values/format.ts"
import { countBetween, type Lane, type MarkKind } from "./lanes.ts"

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

/** Describes a lane's marks within a few pixels of the given time. */
export const describeLane = ({ marks, name }: Lane, at: number, msPerPixel: number): string => {
  const around = 4 * msPerPixel
  const parts = markKindNames.flatMap(([kind, one, many]) => {
    const count = countBetween(marks[kind], at - around, at + around)
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
  })
  return `${name}, ${formatShortDateTime(at)}: ${parts.join(", ") || "nothing"}`
}
