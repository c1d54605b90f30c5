import type { CronTask, DstOverlap, MissedSlots, Overlap } from "@scheduling/sdk"
import { type DependsOnValues, dependsOnValuesOf } from "../../incidents/DependsOn.tsx"
import { userTimeZone } from "../../ui/values/format.ts"
import { callbackInputOf, callbackValuesOf } from "../call/callbackValues.ts"
import { limitInputOf, limitValuesOf } from "../../queues/limitValues.ts"
import { parseTags } from "../../ui/forms/parseTags.ts"
import { newTaskValues, type TaskValues } from "../taskFormPages.tsx"
import {
  firingOptionInputOf,
  firingOptionValuesOf,
  dateTimeInputOf,
  type FiringOptionValues,
  newFiringOptionValues
} from "./firingOptionValues.ts"

export interface ScheduledValues extends TaskValues, FiringOptionValues, DependsOnValues {
  readonly repeats: "by schedule" | "at an interval"
  /** An empty string means no schedule. */
  readonly schedule: string
  /** An empty string means no interval. */
  readonly every: string
  /**
   * The start of the first interval. An empty string means that intervals are counted from 1970.
   */
  readonly anchor: string
  readonly timezone: string
  readonly overlap: Overlap
  readonly missed: MissedSlots
  readonly dst_overlap: DstOverlap
}

export const newScheduledValues: ScheduledValues = {
  ...newTaskValues,
  depends_on: [],
  repeats: "by schedule",
  schedule: "",
  every: "",
  anchor: "",
  timezone: userTimeZone(),
  overlap: "skip",
  missed: "once",
  dst_overlap: "first",
  ...newFiringOptionValues
}

type Scheduled = Pick<CronTask, keyof CronTask & keyof ScheduledValues>

export const scheduledValuesOf = (task: Scheduled): ScheduledValues => ({
  version: task.version,
  name: task.name,
  tags: task.tags.join(", "),
  repeats: task.every === null ? "by schedule" : "at an interval",
  schedule: task.schedule ?? "",
  every: task.every ?? "",
  anchor: task.anchor === null ? "" : dateTimeInputOf(task.anchor),
  timezone: task.timezone,
  overlap: task.overlap,
  missed: task.missed,
  dst_overlap: task.dst_overlap,
  ...limitValuesOf(task),
  ...dependsOnValuesOf(task),
  ...firingOptionValuesOf(task),
  ...callbackValuesOf(task)
})

export const scheduledInputOf = (values: ScheduledValues) => ({
  name: values.name.trim(),
  tags: parseTags(values.tags),
  ...timingOf(values),
  timezone: values.timezone.trim(),
  overlap: values.overlap,
  missed: values.missed,
  dst_overlap: values.dst_overlap,
  ...limitInputOf(values),
  depends_on: values.depends_on,
  ...firingOptionInputOf(values),
  ...callbackInputOf(values)
})

/**
 * Returns the cron expression or the interval in the form. Both are null if the selected field is
 * empty.
 */
export const timingOf = ({
  anchor,
  every,
  repeats,
  schedule
}: Pick<ScheduledValues, "anchor" | "every" | "repeats" | "schedule">) => {
  const given = (text: string) => (text.trim() === "" ? null : text.trim())
  if (repeats === "by schedule") return { schedule: given(schedule), every: null, anchor: null }
  const interval = given(every)
  const hasAnchor = interval !== null && anchor !== ""
  return {
    schedule: null,
    every: interval,
    anchor: hasAnchor ? new Date(anchor).toISOString() : null
  }
}

export const hasTiming = (values: ScheduledValues): boolean => {
  const { every, schedule } = timingOf(values)
  return every !== null || schedule !== null
}
