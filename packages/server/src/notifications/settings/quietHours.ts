import { Schedule } from "@scheduling/domain/schedules/Schedule"
import { nextFire } from "@scheduling/schedules/fires"
import type { QuietHours } from "@scheduling/domain/notifications/NotificationSettings"

/**
 * When the quiet hours end that go on now, or nothing. They go on where their end comes before their
 * next beginning, which the code of schedules knows, clock changes included.
 */
export const quietUntil = (quiet: QuietHours | null, now: Date): Date | undefined => {
  if (quiet === null) return undefined
  const next = (time: string) => {
    const [hour, minute] = time.split(":")
    const schedule = Schedule.make(`${Number(minute)} ${Number(hour)} * * *`)
    return nextFire(schedule, quiet.timezone, now, { dst_overlap: "first" })
  }
  const end = next(quiet.to)
  return end < next(quiet.from) ? new Date(end) : undefined
}
