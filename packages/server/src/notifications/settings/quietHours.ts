import { Schedule } from "@scheduling/domain/schedules/Schedule"
import { nextFiring } from "@scheduling/schedules/Firings"
import type { QuietHours } from "@scheduling/domain/notifications/NotificationSettings"

/**
 * When the current quiet hours end. Undefined outside of quiet hours. It is quiet now if the end comes
 * before the next beginning. The code of schedules knows both, clock changes included.
 */
export const quietUntil = (quiet: QuietHours | null, now: Date): Date | undefined => {
  if (quiet === null) return undefined
  const next = (time: string) => {
    const [hour, minute] = time.split(":")
    const schedule = Schedule.make(`${Number(minute)} ${Number(hour)} * * *`)
    return nextFiring(schedule, quiet.timezone, now, { dst_overlap: "first" })
  }
  const end = next(quiet.to)
  return end < next(quiet.from) ? new Date(end) : undefined
}
