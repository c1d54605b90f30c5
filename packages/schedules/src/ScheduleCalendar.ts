import { daysInMonth, matchesDate } from "./matchesDate.ts"
import type { ParsedSchedule } from "./ParsedSchedule.ts"

/**
 * All functions use local seconds: whole seconds since 1970-01-01 00:00 on a clock that never
 * changes. Every search terminates, because the parser rejects schedules without a date, and two
 * matching dates are at most 40 years apart (29 February that must also be a Sunday).
 */
const minutesOfDay = 1440

/** Returns the first local second at or after `from` that matches the schedule. */
export const nextMatch = (schedule: ParsedSchedule, from: number): number =>
  findSecond(schedule, from, 1)

/** Returns the last local second at or before `from` that matches the schedule. */
export const latestMatch = (schedule: ParsedSchedule, from: number): number =>
  findSecond(schedule, from, -1)

/** Visits each matching local second from `from` to `to`, both inclusive. */
export const visitMatches = (
  schedule: ParsedSchedule,
  from: number,
  to: number,
  visit: (second: number) => void
): void => {
  const seconds = [...schedule.seconds.keys()].filter((second) => schedule.seconds[second] === 1)
  visitMinutes(schedule, Math.floor(from / 60), Math.floor(to / 60), (minute) => {
    for (const second of seconds) {
      const match = minute * 60 + second
      if (match >= from && match <= to) visit(match)
    }
  })
}

const visitMinutes = (
  schedule: ParsedSchedule,
  from: number,
  to: number,
  visit: (minute: number) => void
): void => {
  for (let day = Math.floor(from / minutesOfDay); day * minutesOfDay <= to; day++) {
    if (!dayMatches(schedule, day)) continue
    for (let hour = 0; hour < 24; hour++) {
      if (schedule.hours[hour] === 0) continue
      for (let minute = 0; minute < 60; minute++) {
        if (schedule.minutes[minute] === 0) continue
        const found = day * minutesOfDay + hour * 60 + minute
        if (found >= from && found <= to) visit(found)
      }
    }
  }
}

type Direction = 1 | -1

const findSecond = (schedule: ParsedSchedule, from: number, direction: Direction): number => {
  const minute = Math.floor(from / 60)
  const found = findMinute(schedule, minute, direction)
  if (found === minute) {
    const second = secondFrom(schedule, from - minute * 60, direction)
    if (second !== undefined) return minute * 60 + second
    return edgeOf(schedule, findMinute(schedule, minute + direction, direction), direction)
  }
  return edgeOf(schedule, found, direction)
}

/** Returns the first matching second of a minute in the direction of the search. */
const edgeOf = (schedule: ParsedSchedule, minute: number, direction: Direction): number =>
  minute * 60 + (secondFrom(schedule, direction === 1 ? 0 : 59, direction) ?? 0)

const secondFrom = (
  { seconds }: ParsedSchedule,
  from: number,
  direction: Direction
): number | undefined => {
  for (let second = from; second >= 0 && second < 60; second += direction) {
    if (seconds[second] === 1) return second
  }
  return undefined
}

const findMinute = (schedule: ParsedSchedule, from: number, direction: Direction): number => {
  const day = Math.floor(from / minutesOfDay)
  if (dayMatches(schedule, day)) {
    const time = findTime(schedule, from - day * minutesOfDay, direction)
    if (time !== undefined) return day * minutesOfDay + time
  }
  const found = findDay(schedule, day + direction, direction)
  const edge = direction === 1 ? 0 : minutesOfDay - 1
  return found * minutesOfDay + (findTime(schedule, edge, direction) ?? 0)
}

/** Finds the next matching minute of the same day, including `from`. */
const findTime = (
  schedule: ParsedSchedule,
  from: number,
  direction: Direction
): number | undefined => {
  const fromHour = Math.floor(from / 60)
  const firstMinute = direction === 1 ? 0 : 59
  for (let hour = fromHour; hour >= 0 && hour < 24; hour += direction) {
    if (schedule.hours[hour] === 0) continue
    let minute = hour === fromHour ? from % 60 : firstMinute
    for (; minute >= 0 && minute < 60; minute += direction) {
      if (schedule.minutes[minute] === 1) return hour * 60 + minute
    }
  }
  return undefined
}

const findDay = (schedule: ParsedSchedule, from: number, direction: Direction): number => {
  let { year, month, day } = civilDate(from)
  for (let number = from; ;) {
    const length = daysInMonth(year, month)
    if (schedule.months[month] === 1) {
      for (; day >= 1 && day <= length; day += direction, number += direction) {
        if (dateMatches(schedule, { year, month, day }, number)) return number
      }
    } else {
      number += direction === 1 ? length + 1 - day : -day
    }
    month += direction
    if (month === 13) {
      month = 1
      year++
    } else if (month === 0) {
      month = 12
      year--
    }
    day = direction === 1 ? 1 : daysInMonth(year, month)
  }
}

const dayMatches = (schedule: ParsedSchedule, number: number): boolean => {
  const date = civilDate(number)
  return schedule.months[date.month] === 1 && dateMatches(schedule, date, number)
}

const dateMatches = (
  schedule: ParsedSchedule,
  { day, month, year }: CivilDate,
  number: number
): boolean => matchesDate(schedule, day, weekdayOf(number), () => daysInMonth(year, month))

/** Day 0, 1970-01-01, was a Thursday, which is 4. */
const weekdayOf = (number: number): number => (((number + 4) % 7) + 7) % 7

interface CivilDate {
  readonly year: number
  readonly month: number
  readonly day: number
}

/**
 * Returns the date of a day number, after Howard Hinnant's "chrono-compatible low-level date
 * algorithms". Years start on 1 March, so that the leap day is the last day of a year. Using
 * `Date`, a search takes three times as long.
 */
const civilDate = (number: number): CivilDate => {
  const shifted = number + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365
  )
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1
  }
}
