import type { ActivityTimeline } from "@scheduling/sdk"
import { barsOfTimeline } from "../executions/histogram.ts"

const hourMs = 3_600_000

/**
 * Returns whether the runs of the last two days, if there were any, started in the last hour.
 * Charts of two days are then nearly empty.
 */
export const ranOnlyInLastHour = (timeline: ActivityTimeline, now: number): boolean =>
  timeline.complete_from <= timeline.from &&
  barsOfTimeline(timeline, 1).every(
    ({ failed, other, start, succeeded }) =>
      start >= now - hourMs || succeeded + failed + other === 0
  )
