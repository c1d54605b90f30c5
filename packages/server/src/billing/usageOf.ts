import { type Day, daysBetween, type UsageOfDay } from "@scheduling/domain/billing/Usage"
import type { UsageRow } from "../limits/UsageRepo.ts"

/**
 * Each day of a range. Seats last from one change to the next, so on a day with changes there were
 * those of the day before, too.
 */
export const usageOf = (
  rows: ReadonlyArray<UsageRow>,
  { from, seatsBefore, to }: { readonly from: Day; readonly seatsBefore: number; readonly to: Day }
): ReadonlyArray<UsageOfDay> => {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  let seatsLeft = seatsBefore
  return daysBetween(from, to).map((day) => {
    const row = byDay.get(day)
    const seats = Math.max(seatsLeft, row?.most_seats ?? 0)
    seatsLeft = row?.last_seats ?? seatsLeft
    return { day, executions: row?.executions ?? 0, notifications: row?.notifications ?? 0, seats }
  })
}
