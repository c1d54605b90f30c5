import type { ParsedSchedule } from "./ParsedSchedule.ts"
import { isSpecialDay } from "./SpecialDays.ts"

type Days = Pick<
  ParsedSchedule,
  "daysOfMonth" | "eitherDay" | "specialDates" | "specialWeekdays" | "weekdays"
>

/** Matches a day against the two day fields. The caller has checked the month. */
export const matchesDate = (
  schedule: Days,
  day: number,
  weekday: number,
  lengthOfMonth: () => number
): boolean => {
  const { specialDates, specialWeekdays } = schedule
  let byDate = schedule.daysOfMonth[day] === 1
  let byWeekday = schedule.weekdays[weekday] === 1
  if (specialDates.length > 0 || specialWeekdays.length > 0) {
    const date = { day, weekday, length: lengthOfMonth() }
    byDate ||= specialDates.some((special) => isSpecialDay(special, date))
    byWeekday ||= specialWeekdays.some((special) => isSpecialDay(special, date))
  }
  return schedule.eitherDay ? byDate || byWeekday : byDate && byWeekday
}

export const daysInMonth = (year: number, month: number): number => {
  if (month === 2) {
    return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  }
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/**
 * Returns true if a schedule has at least one date. Without special days, only the length of the
 * months matters, because within 400 years each date falls on each weekday. With special days, 28
 * years are searched: they contain months of every length starting on every weekday.
 */
export const someDateExists = (days: Days & Pick<ParsedSchedule, "months">): boolean => {
  if (days.specialDates.length + days.specialWeekdays.length === 0) {
    return days.eitherDay || someNumberExists(days)
  }
  let weekday = 6
  for (let year = 2000; year < 2028; year++) {
    for (let month = 1; month <= 12; month++) {
      const length = daysInMonth(year, month)
      for (let day = 1; day <= length; day++) {
        if (days.months[month] === 1 && matchesDate(days, day, weekday, () => length)) return true
        weekday = (weekday + 1) % 7
      }
    }
  }
  return false
}

const longestMonths = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const someNumberExists = ({
  daysOfMonth,
  months
}: Pick<ParsedSchedule, "daysOfMonth" | "months">): boolean =>
  longestMonths.some(
    (length, month) => months[month] === 1 && daysOfMonth.subarray(0, length + 1).includes(1)
  )
