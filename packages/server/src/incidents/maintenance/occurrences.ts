import type { MaintenanceWindow } from "@scheduling/domain/maintenance/MaintenanceWindow"
import { latestFiring, nextFiring } from "@scheduling/schedules/Firings"

/** The fields of a maintenance window that determine when it is in progress. */
export type MaintenanceTimes = Pick<
  MaintenanceWindow,
  "duration_seconds" | "schedule" | "timezone"
> & {
  readonly starts_at: Date | null
  readonly ends_at: Date | null
}

/** Returns whether the maintenance is in progress. A window includes its start, but not its end. */
export const isMaintenanceInProgress = (window: MaintenanceTimes, now: Date): boolean => {
  const { duration_seconds, ends_at, schedule, starts_at, timezone } = window
  if (schedule === null || duration_seconds === null) {
    return starts_at !== null && ends_at !== null && starts_at <= now && now < ends_at
  }
  const earliest = now.getTime() - duration_seconds * 1_000 + 1
  return latestFiring(schedule, timezone, now, earliest) !== undefined
}

/** Returns when the maintenance starts next, or null if it does not start again. */
export const nextMaintenanceStart = (
  { schedule, starts_at, timezone }: MaintenanceTimes,
  now: Date
): Date | null => {
  if (schedule !== null) return new Date(nextFiring(schedule, timezone, now))
  return starts_at !== null && starts_at > now ? starts_at : null
}
