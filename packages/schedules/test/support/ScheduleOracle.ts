// A second implementation of the rules in Firings.ts, minute by minute and without any of its code:
// local times come from `Intl`, and schedules are matched against the expression's text.

const minute = 60_000
const day = 86_400_000

export interface OracleFiring {
  readonly at: number
  readonly kind: "plain" | "moved" | "repeated"
}

/** A minute of real time and the local time at that minute, encoded as if it were UTC. */
interface Tick {
  readonly at: number
  readonly wall: number
}

const formatterOf = (zone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric"
  })

/** Parses a time such as "3/29/2026, 03:00". */
const wallOf = (formatter: Intl.DateTimeFormat, at: number): number => {
  const [month = 0, date = 0, year = 0, hour = 0, min = 0] = formatter
    .format(at)
    .split(/\D+/)
    .map(Number)
  return Date.UTC(year, month - 1, date, hour, min)
}

export const ticksBetween = (zone: string, from: number, to: number): ReadonlyArray<Tick> => {
  const formatter = formatterOf(zone)
  const ticks: Array<Tick> = []
  for (let at = from; at < to; at += minute) ticks.push({ at, wall: wallOf(formatter, at) })
  return ticks
}

/** Finds the first minute after each clock change by checking every day. */
export const clockChanges = (zone: string, from: number, to: number): ReadonlyArray<number> => {
  const formatter = formatterOf(zone)
  const offsetAt = (at: number): number => wallOf(formatter, at) - at
  const changes: Array<number> = []
  for (let start = from; start < to; start += day) {
    if (offsetAt(start) === offsetAt(start + day)) continue
    let [before, after] = [start, start + day]
    while (after - before > minute) {
      const middle = before + Math.floor((after - before) / 2 / minute) * minute
      if (offsetAt(middle) === offsetAt(start)) before = middle
      else after = middle
    }
    changes.push(after)
  }
  return changes
}

const numbered = (list: string, first: number): ReadonlyArray<readonly [string, number]> =>
  list.split(" ").map((name, index) => [name, first + index])

const names = [
  ...numbered("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC", 1),
  ...numbered("SUN MON TUE WED THU FRI SAT", 0)
]

const numeric = (field: string): string =>
  names.reduce((text, [name, value]) => text.replaceAll(name, String(value)), field.toUpperCase())

type Allows = (value: number) => boolean

const fieldOf = (field: string, min: number, max: number): Allows => {
  const items = numeric(field)
    .split(",")
    .map((item) => {
      const [base = "", step] = item.split("/")
      const [first, last] = base === "*" ? [min, max] : base.split("-").map(Number)
      const end = last ?? (step === undefined ? first : max)
      if (first === undefined || end === undefined) throw new Error(`bad item ${item}`)
      return { first, end, step: Number(step ?? 1) }
    })
  return (value) =>
    items.some(
      ({ first, end, step }) => value >= first && value <= end && (value - first) % step === 0
    )
}

/**
 * Returns whether an item such as `L-3`, `15W` or `5#2` matches the day that starts at this
 * midnight in UTC.
 */
const isSpecial = (item: string, midnight: number): boolean => {
  const date = new Date(midnight)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  const days = Array.from(
    { length: 31 },
    (_, index) => new Date(Date.UTC(year, month, index + 1))
  ).filter((one) => one.getUTCMonth() === month)
  const isOn = (one: Date | undefined): boolean => one?.getTime() === midnight
  const isWorkday = (one: Date): boolean => one.getUTCDay() % 6 !== 0
  const [, last] = /^L(?:-(\d+))?$/.exec(item) ?? []
  if (/^L(-|$)/.test(item)) return isOn(days.at(-1 - Number(last ?? 0)))
  if (item === "LW") return isOn(days.findLast(isWorkday))
  const [, to] = /^(\d+)W$/.exec(item) ?? []
  if (to !== undefined) {
    const wanted = days[Number(to) - 1]
    if (wanted === undefined) return false
    const far = (one: Date): number => Math.abs(one.getTime() - wanted.getTime())
    return isOn(days.filter(isWorkday).toSorted((a, b) => far(a) - far(b))[0])
  }
  const [weekday = "", nth] = item.split(/[#L]/)
  const those = days.filter((one) => one.getUTCDay() === Number(weekday) % 7)
  return isOn(nth === "" ? those.at(-1) : those[Number(nth) - 1])
}

/** Separates the items whose day depends on the month from items with a fixed number. */
const apart = (field: string, special: RegExp) => {
  const items = field.toUpperCase().split(",")
  return {
    special: items.filter((item) => special.test(item)).map(numeric),
    plain: items.filter((item) => !special.test(item)).join(",")
  }
}

const weekdayOf = (field: string): Allows => {
  const allows = fieldOf(field, 0, 7)
  return field.startsWith("*") ? allows : (value) => allows(value) || (value === 0 && allows(7))
}

const tabulate = (size: number, allows: Allows): ReadonlyArray<boolean> =>
  Array.from({ length: size }, (_, value) => allows(value))

interface Oracle {
  readonly everyHour: boolean
  readonly matches: (wall: number) => boolean
}

const compile = (expression: string): Oracle => {
  const [minutes = "", hours = "", dates = "", months = "", weekdays = ""] = expression.split(" ")
  const minuteList = tabulate(60, fieldOf(minutes, 0, 59))
  const hourList = tabulate(24, fieldOf(hours, 0, 23))
  const [dateItems, weekdayItems] = [apart(dates, /^L|W$/), apart(weekdays, /#|L$/)]
  const dateList = tabulate(
    32,
    dateItems.plain === "" ? () => false : fieldOf(dateItems.plain, 1, 31)
  )
  const monthList = tabulate(13, fieldOf(months, 1, 12))
  const weekdayList = tabulate(
    7,
    weekdayItems.plain === "" ? () => false : weekdayOf(weekdayItems.plain)
  )
  const both = dates.startsWith("*") || weekdays.startsWith("*")
  const matches = (wall: number): boolean => {
    const minuteOfDay = Math.floor(wall / minute) % 1440
    if (!minuteList[minuteOfDay % 60] || !hourList[Math.floor(minuteOfDay / 60)]) return false
    const date = new Date(wall)
    const midnight = wall - (wall % day)
    const isNamed = (item: string): boolean => isSpecial(item, midnight)
    const byDate = dateList[date.getUTCDate()] === true || dateItems.special.some(isNamed)
    const byWeekday = weekdayList[date.getUTCDay()] === true || weekdayItems.special.some(isNamed)
    const inMonth = monthList[date.getUTCMonth() + 1] === true
    return inMonth && (both ? byDate && byWeekday : byDate || byWeekday)
  }
  return { everyHour: !hourList.includes(false), matches }
}

const oracles = new Map<string, Oracle>()

const oracleOf = (expression: string): Oracle => {
  const oracle = oracles.get(expression) ?? compile(expression)
  oracles.set(expression, oracle)
  return oracle
}

/**
 * Returns every firing within the ticks, with a mark on each repeated one, whether or not it
 * counts. Ticks up to `after` are only context, so that local times that occurred in them count as
 * seen.
 */
export const oracleFirings = (
  expression: string,
  ticks: ReadonlyArray<Tick>,
  after: number
): ReadonlyArray<OracleFiring> => {
  const { everyHour, matches } = oracleOf(expression)
  const firings: Array<OracleFiring> = []
  let latestWall = ticks[0]?.wall ?? 0
  let previousWall = latestWall - minute
  for (const { at, wall } of ticks) {
    let skippedOne = false
    for (let gap = previousWall + minute; gap < wall; gap += minute) {
      skippedOne ||= !everyHour && matches(gap)
    }
    previousWall = wall
    const repeated = wall <= latestWall && at !== ticks[0]?.at
    latestWall = Math.max(latestWall, wall)
    if (at <= after) continue
    if (skippedOne) firings.push({ at, kind: "moved" })
    else if (matches(wall)) firings.push({ at, kind: repeated ? "repeated" : "plain" })
  }
  return firings
}

/** True for schedules that fire at repeated times although `dst_overlap` is "first". */
export const runsByElapsedTime = (expression: string): boolean => /^(?:\*|\S+ \*)/.test(expression)

/**
 * Returns a function that checks whether the expression matches a date, which is given as its
 * midnight in UTC.
 */
export const dateMatcherOf = (expression: string): ((midnight: number) => boolean) =>
  compile(["0", "0", ...expression.split(" ").slice(2)].join(" ")).matches
