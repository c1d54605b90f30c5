import { Schedule } from "@scheduling/domain/schedules/Schedule"
import { nextFiring } from "@scheduling/schedules/Firings"
import type { QuietHours } from "@scheduling/domain/notifications/NotificationSettings"

/**
 * Returns when the current quiet hours end, or undefined outside quiet hours. Quiet hours are
 * active if they end sooner than they next begin. Both times are computed as schedules, which
 * handle clock changes.
 */
export const quietHoursEnd = (quiet: QuietHours | null, now: Date): Date | undefined => {
  if (quiet === null) return undefined
  const next = (time: string) => {
    const [hour, minute] = time.split(":")
    const schedule = Schedule.make(`${Number(minute)} ${Number(hour)} * * *`)
    return nextFiring(schedule, quiet.timezone, now, { dst_overlap: "first" })
  }
  const end = next(quiet.to)
  return end < next(quiet.from) ? new Date(end) : undefined
}
