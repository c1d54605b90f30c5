import { parseSchedule } from "@scheduling/schedules/parseSchedule"
import { Arbitrary, Schema } from "effect"

const between = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

const item = (min: number, max: number, names: ReadonlyArray<string>) =>
  Arbitrary.all({
    form: between(0, 5),
    left: between(min, max),
    right: between(min, max),
    step: between(1, 12),
    named: Arbitrary.schema(Schema.Boolean)
  }).pipe(
    Arbitrary.map(({ form, left, right, step, named }) => {
      const print = (value: number): string =>
        (named ? names[value - min] : undefined) ?? `${value}`
      const [low, high] = left <= right ? [left, right] : [right, left]
      const safeStep = Math.min(step, max)
      switch (form) {
        case 0:
          return print(left)
        case 1:
          return `${print(low)}-${print(high)}`
        case 2:
          return `${print(low)}-${print(high)}/${safeStep}`
        case 3:
          return `${print(left)}/${safeStep}`
        case 4:
          return `*/${safeStep}`
        default:
          return "*"
      }
    })
  )

const field = (min: number, max: number, names: ReadonlyArray<string> = []) =>
  Arbitrary.array(item(min, max, names), { minLength: 1, maxLength: 3 }).pipe(
    Arbitrary.map((items) => items.join(","))
  )

const months = "jan Feb MAR apr may Jun JUL aug sep oct nov dec".split(" ")
const weekdays = "sun mon tue Wed THU fri sat".split(" ")

const specialDate = Arbitrary.all({ form: between(0, 3), date: between(1, 31) }).pipe(
  Arbitrary.map(({ date, form }) => ["L", "LW", `L-${Math.min(date, 30)}`, `${date}W`][form] ?? "L")
)

const specialWeekday = Arbitrary.all({ nth: between(0, 5), weekday: between(0, 7) }).pipe(
  Arbitrary.map(({ nth, weekday }) => {
    const name = nth % 2 === 0 ? (weekdays[weekday] ?? "7") : String(weekday)
    return nth === 0 ? `${name}L` : `${name}#${nth}`
  })
)

/** In a third of the cases, generates a special field or a field with a special item. */
const orSpecial = (plain: Arbitrary.Arbitrary<string>, special: Arbitrary.Arbitrary<string>) =>
  Arbitrary.all({ form: between(0, 5), plain, special }).pipe(
    Arbitrary.map(({ form, plain, special }) =>
      form === 0 ? special : form === 1 ? `${plain},${special}` : plain
    )
  )

const isSchedule = (text: string) => parseSchedule(text).ok

/** Schedules in every form that the parser accepts, with few firings and with many. */
export const arbitrarySchedule = Arbitrary.all([
  field(0, 59),
  field(0, 23),
  orSpecial(field(1, 31), specialDate),
  field(1, 12, months),
  orSpecial(field(0, 6, weekdays), specialWeekday)
]).pipe(
  Arbitrary.map((fields) => fields.join(" ")),
  Arbitrary.filter(isSchedule)
)

/** Schedules that fire every day, including the days of clock changes. */
export const arbitraryDailySchedule = Arbitrary.all([field(0, 59), field(0, 23)]).pipe(
  Arbitrary.map((fields) => [...fields, "*", "*", "*"].join(" ")),
  Arbitrary.filter(isSchedule)
)

/** A time from 2024 to 2030, in whole seconds. */
export const arbitraryInstant = between(Date.UTC(2024, 0) / 1000, Date.UTC(2031, 0) / 1000).pipe(
  Arbitrary.map((seconds) => seconds * 1000)
)
