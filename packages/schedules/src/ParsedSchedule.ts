import type { SpecialDay } from "./SpecialDays.ts"

/** The fields as tables. A 1 at index n means that n matches. */
export interface ParsedSchedule {
  /** Without a field of seconds, only 0 matches. */
  readonly seconds: Uint8Array
  readonly minutes: Uint8Array
  readonly hours: Uint8Array
  readonly daysOfMonth: Uint8Array
  readonly months: Uint8Array
  readonly weekdays: Uint8Array
  /** Special days of the day-of-month field, such as `L` and `15W`. */
  readonly specialDates: ReadonlyArray<SpecialDay>
  /** Special days of the day-of-week field, such as `FRI#2` and `FRIL`. */
  readonly specialWeekdays: ReadonlyArray<SpecialDay>
  /** Day of month and day of week are both restricted, so a day needs to match only one of them. */
  readonly eitherDay: boolean
  /**
   * The minute or the hour field starts with `*`, so the schedule says how often and not at what
   * time.
   */
  readonly byElapsedTime: boolean
  readonly everyHour: boolean
}
