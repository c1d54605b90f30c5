import { Schedule } from "@scheduling/domain/schedules/Schedule"
import { nextFiring } from "@scheduling/schedules/Firings"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"

/**
 * The settings that decide when pings are expected. Either `period_seconds` or `schedule` is null.
 */
export interface HeartbeatRhythm {
  readonly period_seconds: number | null
  readonly schedule: string | null
  readonly timezone: string
  readonly grace_seconds: number
}

/**
 * How early a ping may arrive and still count for the next slot (the next scheduled time). Clocks
 * differ, and jobs start early.
 */
const maxEarlyMs = 5 * 60_000

/**
 * Returns when the next ping is due after a ping at `at`. `expected` is when the ping at `at` was
 * due. With a schedule, a ping counts for the slot that is due, or for the next slot if the ping is
 * slightly early. Otherwise it counts for no slot.
 */
export const nextPingDueAt = (
  rhythm: HeartbeatRhythm,
  expected: number | null,
  at: number
): number => {
  if (rhythm.period_seconds !== null) return at + rhythm.period_seconds * 1000
  const graceMs = rhythm.grace_seconds * 1000
  const next = slotAfter(rhythm, at)
  const isForSlotDue = expected !== null && expected <= at && at <= expected + graceMs
  if (isForSlotDue) return next
  const following = slotAfter(rhythm, next)
  const earlyMs = Math.min(graceMs, maxEarlyMs, (following - next) / 4)
  return next - at <= earlyMs ? following : next
}

const slotAfter = ({ schedule, timezone }: HeartbeatRhythm, at: number): number =>
  nextFiring(Schedule.make(schedule ?? ""), TimeZone.make(timezone), at)
