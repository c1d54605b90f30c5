import type { SpecialDay } from "./SpecialDays.ts"

/** A schedule with one table per field. A 1 at index n means that the value n matches. */
export interface ParsedSchedule {
  /** Without a seconds field, only second 0 matches. */
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
  /** True if a day needs to match only one of the two day fields, because both are restricted. */
  readonly eitherDay: boolean
  /**
   * True if the minute or the hour field starts with `*`. Such a schedule defines a frequency
   * rather than times of day.
   */
  readonly byElapsedTime: boolean
  readonly everyHour: boolean
}
