import { type Day, daysBetween, type UsageOfDay } from "@scheduling/domain/billing/Usage"
import type { CountsBeforeDay, UsageRow } from "../plans/index.ts"

/**
 * Computes the usage of each day in a range. Seats and monitors are billed by the day's highest
 * count, which includes the count before the day's first change.
 */
export const billedUsage = (
  rows: ReadonlyArray<UsageRow>,
  { before, from, to }: { readonly from: Day; readonly before: CountsBeforeDay; readonly to: Day }
): ReadonlyArray<UsageOfDay> => {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  let left = before
  return daysBetween(from, to).map((day) => {
    const row = byDay.get(day)
    const seats = Math.max(left.seats, row?.most_seats ?? 0)
    const monitors = Math.max(left.monitors, row?.most_monitors ?? 0)
    left = {
      seats: row?.last_seats ?? left.seats,
      monitors: row?.last_monitors ?? left.monitors
    }
    return {
      day,
      executions: row?.executions ?? 0,
      notifications: row?.notifications ?? 0,
      monitors,
      seats
    }
  })
}
