import { Schedule } from "@scheduling/domain/schedules/Schedule"
import { nextFire } from "@scheduling/schedules/fires"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"

/** How far apart pings are (a period), or when (a schedule): one of the two. */
export interface Rhythm {
  readonly period_seconds: number | null
  readonly schedule: string | null
  readonly timezone: string
  readonly grace_seconds: number
}

/** Clocks of machines differ, and jobs are started a little early: so much of it is forgiven. */
const maxEarlyMs = 5 * 60_000

/**
 * When the next ping is due after one at `at`, where one was due at `expected`. A ping counts for the
 * slot that is due; else, a little early, for the one to come; else it is one more than was asked for.
 */
export const expectedAfter = (rhythm: Rhythm, expected: number | null, at: number): number => {
  if (rhythm.period_seconds !== null) return at + rhythm.period_seconds * 1000
  const graceMs = rhythm.grace_seconds * 1000
  const next = slotAfter(rhythm, at)
  const isForSlotDue = expected !== null && expected <= at && at <= expected + graceMs
  if (isForSlotDue) return next
  const following = slotAfter(rhythm, next)
  const earlyMs = Math.min(graceMs, maxEarlyMs, (following - next) / 4)
  return next - at <= earlyMs ? following : next
}

const slotAfter = ({ schedule, timezone }: Rhythm, at: number): number =>
  nextFire(Schedule.make(schedule ?? ""), TimeZone.make(timezone), at)
