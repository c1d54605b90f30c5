import type { CronTask, DstOverlap, Missed, Overlap } from "@scheduling/sdk"
import { userTimeZone } from "../../ui/values/format.ts"
import { callbackInputOf, callbackValuesOf } from "../call/callbackValues.ts"
import { tagsOf } from "../../ui/forms/tags.ts"
import { newTask, type TaskValues } from "../taskFormPages.tsx"
import {
  firingOptionInputOf,
  firingOptionValuesOf,
  type FiringOptionValues
} from "./firingOptionValues.ts"

export interface ScheduledValues extends TaskValues, FiringOptionValues {
  /** An empty string means no schedule. */
  readonly schedule: string
  readonly timezone: string
  readonly overlap: Overlap
  readonly missed: Missed
  readonly dst_overlap: DstOverlap
}

export const newScheduled: ScheduledValues = {
  ...newTask,
  schedule: "",
  timezone: userTimeZone(),
  overlap: "skip",
  missed: "once",
  dst_overlap: "first",
  ...firingOptionValuesOf({
    precision: "minute",
    jitter_seconds: 0,
    starts_at: null,
    ends_at: null,
    excluded_days: [],
    excluded_calendar: null,
    on_pause: "cancel",
    pause_after_failures: null
  })
}

type Scheduled = Omit<Pick<CronTask, keyof CronTask & keyof ScheduledValues>, "schedule"> & {
  readonly schedule: string | null
}

export const scheduledValuesOf = (task: Scheduled): ScheduledValues => ({
  version: task.version,
  name: task.name,
  tags: task.tags.join(", "),
  schedule: task.schedule ?? "",
  timezone: task.timezone,
  overlap: task.overlap,
  missed: task.missed,
  dst_overlap: task.dst_overlap,
  queue_id: task.queue_id,
  ...firingOptionValuesOf(task),
  ...callbackValuesOf(task)
})

export const scheduledInputOf = (values: ScheduledValues) => ({
  name: values.name.trim(),
  tags: tagsOf(values.tags),
  timezone: values.timezone.trim(),
  overlap: values.overlap,
  missed: values.missed,
  dst_overlap: values.dst_overlap,
  queue_id: values.queue_id,
  ...firingOptionInputOf(values),
  ...callbackInputOf(values)
})
