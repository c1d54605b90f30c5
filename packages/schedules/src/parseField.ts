import type { SpecialDay } from "./SpecialDays.ts"

export type ScheduleField =
  | "schedule"
  | "second"
  | "minute"
  | "hour"
  | "day of month"
  | "month"
  | "day of week"

/** A problem with an expression. `field` is "schedule" if the problem concerns several fields. */
export interface ScheduleIssue {
  readonly field: ScheduleField
  readonly message: string
}

export interface FieldRule {
  readonly field: ScheduleField
  readonly min: number
  /**
   * The maximum value that a user may write. For the day of week it is 7, which is another name for
   * Sunday.
   */
  readonly max: number
  /** The size of the table, which is indexed from 0. */
  readonly size: number
  /** The names of the values, starting at `min`. */
  readonly names: ReadonlyArray<string>
  /** True for the day of week, where 7 is an alias of 0. */
  readonly isWeek?: true
  /** Parses items whose form is specific to this field. */
  readonly special?: (item: string) => SpecialDay | string | undefined
}

/** Parses a field into its table. Adds problems to `issues` and special days to `specials`. */
export const parseField = (
  rule: FieldRule,
  text: string,
  issues: Array<ScheduleIssue>,
  specials: Array<SpecialDay> = []
): Uint8Array => {
  const table = new Uint8Array(rule.size)
  const report = (message: string): void => {
    issues.push({ field: rule.field, message: `${rule.field}: ${message}` })
  }
  const items = text.split(",")
  if (items.includes("")) report(`${quoteInput(text)} has an empty list item`)
  for (const item of items.filter((item) => item !== "")) {
    const special = rule.special?.(item)
    if (special !== undefined) {
      if (typeof special === "string") report(`${quoteInput(item)} ${special}`)
      else specials.push(special)
      continue
    }
    const values = parseItem(rule, item)
    if (Array.isArray(values)) {
      values.forEach(report)
      continue
    }
    for (let value = values.first; value <= values.last; value += values.step) {
      table[value === 7 && rule.isWeek ? 0 : value] = 1
    }
  }
  return table
}

interface Values {
  readonly first: number
  readonly last: number
  readonly step: number
}

const parseItem = (rule: FieldRule, item: string): Values | Array<string> => {
  const [base = "", stepText, ...moreSteps] = item.split("/")
  if (moreSteps.length > 0) return [`${quoteInput(item)} has more than one step`]
  const step = stepText === undefined ? 1 : Number(stepText)
  const problems: Array<string> = []
  if (stepText !== undefined && !(isDigits(stepText) && step >= 1 && step <= rule.max)) {
    problems.push(`step ${quoteInput(stepText)} in ${quoteInput(item)} is outside 1-${rule.max}`)
  }
  const range = parseRange(rule, base, stepText !== undefined)
  if (Array.isArray(range)) return [...range, ...problems]
  return problems.length > 0 ? problems : { ...range, step }
}

const parseRange = (
  rule: FieldRule,
  base: string,
  hasStep: boolean
): Omit<Values, "step"> | Array<string> => {
  if (base === "*") return { first: rule.min, last: rule.isWeek ? 6 : rule.max }
  const ends = base.split("-")
  const [from = "", to] = ends
  if (ends.length > 2 || ends.includes("")) {
    return [`${quoteInput(base)} is not ${allowed(rule)}, or a range of them`]
  }
  const values = ends.map((end) => parseValue(rule, end))
  const messages = values.filter((value) => typeof value === "string")
  const [first, last = hasStep ? rule.max : first] = values
  if (typeof first !== "number" || typeof last !== "number") return messages
  if (to === undefined || first <= last) {
    return { first, last }
  }
  if (rule.isWeek && first === 7) return { first: 0, last }
  if (rule.isWeek && last === 0) return { first, last: 7 }
  const [start, end] = edges(rule, from)
  const instead = hasStep ? "" : `, write ${quoteInput(`${from}-${end},${start}-${to}`)}`
  return [`range ${quoteInput(base)} runs backwards${instead}`]
}

const parseValue = (rule: FieldRule, token: string): number | string => {
  if (isDigits(token)) {
    const value = Number(token)
    const inside = value >= rule.min && value <= rule.max
    return inside ? value : `${quoteInput(token)} is outside ${rule.min}-${rule.max}`
  }
  if (token === "?") return `"?" is not supported, write "*"`
  if (rule.names.length === 0 || !/^[a-z]+$/i.test(token)) {
    return `${quoteInput(token)} is not ${allowed(rule)}`
  }
  const index = rule.names.indexOf(token.toUpperCase())
  return index === -1
    ? `unknown name ${quoteInput(token)}, expected ${allowed(rule)}`
    : index + rule.min
}

const isDigits = (text: string): boolean => /^\d+$/.test(text)

/** Quotes and truncates user input for error messages. */
export const quoteInput = (token: string): string =>
  JSON.stringify(token.length > 40 ? `${token.slice(0, 40)}…` : token)

const allowed = (rule: FieldRule): string => {
  const names = rule.names.length === 0 ? "" : ` or ${rule.names[0]}-${rule.names.at(-1)}`
  return `a number ${rule.min}-${rule.max}${names}`
}

/** Returns the first and last value of a field, as names if the user writes names. */
const edges = (rule: FieldRule, like: string): readonly [string, string] => {
  const first = rule.names[0]
  const last = rule.names.at(-1)
  if (!isDigits(like) && first !== undefined && last !== undefined) return [first, last]
  return [String(rule.min), String(rule.size - 1)]
}
