/** A day whose number depends on the month. */
export type SpecialDay =
  /** The last day of the month, or the given number of days before it. */
  | { readonly kind: "before last"; readonly days: number }
  /** The weekday (Monday to Friday) nearest to a date, in the same month. */
  | { readonly kind: "nearest weekday"; readonly to: number | "last" }
  /** The nth or last given weekday of the month, such as the second Friday. */
  | { readonly kind: "nth weekday"; readonly weekday: number; readonly nth: number | "last" }

/** A day within its month. */
export interface DayOfMonth {
  readonly day: number
  /** 0 is Sunday. */
  readonly weekday: number
  /** The number of days in the month. */
  readonly length: number
}

export const isSpecialDay = (
  special: SpecialDay,
  { day, length, weekday }: DayOfMonth
): boolean => {
  switch (special.kind) {
    case "before last":
      return day === length - special.days
    case "nearest weekday":
      return (
        day === nearestWeekday(special.to === "last" ? length : special.to, day, weekday, length)
      )
    case "nth weekday":
      if (weekday !== special.weekday) return false
      return special.nth === "last" ? day + 7 > length : Math.ceil(day / 7) === special.nth
  }
}

/**
 * Returns the nearest weekday, or undefined if the month does not have the date. `day` is any day
 * of the month, with its weekday.
 */
const nearestWeekday = (
  date: number,
  day: number,
  weekday: number,
  length: number
): number | undefined => {
  if (date > length) return undefined
  const weekdayOfDate = (((weekday + date - day) % 7) + 7) % 7
  if (weekdayOfDate === saturday) return date === 1 ? 3 : date - 1
  if (weekdayOfDate === sunday) return date === length ? date - 2 : date + 1
  return date
}

const sunday = 0
const saturday = 6

/**
 * Parses `L`, `L-3`, `LW` and `15W`. Returns an error message for an invalid item, or undefined for
 * another form.
 */
export const parseSpecialDate = (item: string): SpecialDay | string | undefined => {
  const [, days, isWeekday] = /^L(?:-(\d{1,3})|(W))?$/i.exec(item) ?? []
  if (/^L/i.test(item)) {
    if (isWeekday !== undefined) return { kind: "nearest weekday", to: "last" }
    if (days === undefined && item.length > 1) return "is not L, LW or L-1 to L-30"
    if (days !== undefined && (Number(days) < 1 || Number(days) > 30))
      return "is outside L-1 to L-30"
    return { kind: "before last", days: Number(days ?? 0) }
  }
  const [, date] = /^(\d{1,3})W$/i.exec(item) ?? []
  if (date === undefined) return undefined
  const to = Number(date)
  return to < 1 || to > 31 ? "is outside 1W-31W" : { kind: "nearest weekday", to }
}

const weekdayNames = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]

/**
 * Parses `FRI#2`, `5#2`, `FRIL` and `5L`. Returns an error message for an invalid item, or
 * undefined for another form.
 */
export const parseSpecialWeekday = (item: string): SpecialDay | string | undefined => {
  const [, name = "", nth] = /^([a-z]{3}|\d{1,3})(?:#(\d{1,3})|L)$/i.exec(item) ?? []
  if (name === "") {
    return /^L$/i.test(item) ? "needs its day, such as FRIL for the last Friday" : undefined
  }
  const named = weekdayNames.indexOf(name.toUpperCase())
  const weekday = /^\d/.test(name) ? Number(name) : named
  if (weekday < 0 || weekday > 7) return "does not begin with a day 0-7 or SUN-SAT"
  if (nth !== undefined && (Number(nth) < 1 || Number(nth) > 5)) return "is outside #1-#5"
  return {
    kind: "nth weekday",
    weekday: weekday % 7,
    nth: nth === undefined ? "last" : Number(nth)
  }
}
