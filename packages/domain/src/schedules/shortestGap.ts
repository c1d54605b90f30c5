import { Result } from "effect"
import { gapOf } from "./gapOf.ts"
import { parseSchedule } from "./ScheduleParser.ts"

/** The least time between two fires, see `gapOf`. A schedule that is not valid has none. */
export const shortestGapSeconds = (schedule: string): number =>
  Result.match(parseSchedule(schedule), { onFailure: () => Infinity, onSuccess: gapOf })
