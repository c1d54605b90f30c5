import { readSchedule } from "@scheduling/schedules/readSchedule"
import { CommandError } from "../Command.ts"

export type Fields = Readonly<Record<string, unknown>>

/** The result of importing one line or one record of the source. */
export interface Report {
  readonly source: string
  readonly text: string
}

/** A document, and the result of everything in the source. */
export interface Imported {
  readonly document: Fields
  readonly reports: ReadonlyArray<Report>
}

/** A record for the document, or the reason why there is none. */
export type Converted =
  | { readonly section: "tasks" | "monitors"; readonly record: Fields; readonly notes?: string }
  | string

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The records in a list, or in the field of an object that has the list. */
export const recordsIn = (value: unknown, field: string): ReadonlyArray<Fields> => {
  const list = isFields(value) ? value[field] : value
  if (!Array.isArray(list)) {
    throw new CommandError(`The file has no list of records, neither as a whole nor in "${field}".`)
  }
  return list.filter(isFields)
}

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === "" ||
  value === false ||
  value === 0 ||
  (typeof value === "object" && Object.keys(value).length === 0)

/** Reads the fields of a record, and knows which ones with a value were not read. */
export class Source {
  readonly #record: Fields
  readonly #left: Set<string>

  /** `state` are the fields that say how the record is doing, and not what it does. */
  constructor(record: Fields, state: ReadonlyArray<string> = []) {
    this.#record = record
    this.#left = new Set(Object.keys(record).filter((name) => !isEmpty(record[name])))
    for (const name of state) this.#left.delete(name)
  }

  take(name: string): unknown {
    this.#left.delete(name)
    return this.#record[name]
  }

  text(name: string): string {
    const value = this.take(name)
    return typeof value === "string" || typeof value === "number" ? String(value).trim() : ""
  }

  /** A number within the bounds, or undefined if the field has none. */
  number(name: string, least: number, most: number): number | undefined {
    const value = Number(this.take(name) ?? Number.NaN)
    return Number.isFinite(value) ? Math.min(most, Math.max(least, Math.round(value))) : undefined
  }

  object(name: string): Fields {
    const value = this.take(name)
    return isFields(value) ? value : {}
  }

  /** The fields with a value that nobody has read. */
  get left(): ReadonlyArray<string> {
    return [...this.#left].toSorted()
  }
}

/** Returns why the service does not accept the cron expression, or undefined if it does. */
export const scheduleProblem = (schedule: string): string | undefined => {
  const reading = readSchedule(schedule)
  return reading.ok ? undefined : reading.issues.map(({ message }) => message).join("; ")
}

/** Makes keys from names, each once. */
export const makeKeys = (): ((name: string) => string) => {
  const taken = new Set<string>()
  return (name) => {
    const base =
      name
        .replaceAll(/[^A-Za-z0-9._~:@-]+/g, "-")
        .replace(/^[^A-Za-z0-9]+|-+$/g, "")
        .slice(0, 60) || "job"
    let key = base
    for (let number = 2; taken.has(key); number++) key = `${base}-${number}`
    taken.add(key)
    return key
  }
}

/** Tags as the service takes them: at most 20 different ones of 1 to 50 characters. */
export const tagsOf = (tags: ReadonlyArray<unknown>): Fields => {
  const texts = tags.map((tag) => String(tag).trim().slice(0, 50)).filter((tag) => tag !== "")
  const some = [...new Set(texts)].slice(0, 20)
  return some.length > 0 ? { tags: some } : {}
}

/** Leaves out fields without a value. */
export const definedOnly = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const credentials = /^(?:authorization|cookie|.*(?:token|secret|password|api-?key).*)$/i

/** Says which headers have a credential, which would be stored with the record. */
export const credentialNote = (headers: Fields): string | undefined => {
  const found = Object.keys(headers).filter((name) => credentials.test(name))
  return found.length === 0 ? undefined : `move the value of ${found.join(", ")} into a secret`
}

/** Converts each record, and accounts for it and for the fields that were left out. */
export const convertAll = (
  records: ReadonlyArray<Fields>,
  nameOf: (record: Fields, index: number) => string,
  convert: (source: Source) => Converted,
  state: ReadonlyArray<string>
): Imported => {
  const tasks: Array<Fields> = []
  const monitors: Array<Fields> = []
  const reports = records.map((record, index): Report => {
    const source = new Source(record, state)
    const named = nameOf(record, index)
    const converted = convert(source)
    if (typeof converted === "string") {
      return { source: named, text: `not carried over: ${converted}` }
    }
    const { notes, record: made, section } = converted
    ;(section === "tasks" ? tasks : monitors).push(made)
    const what = section === "tasks" ? "the cron task" : `the ${String(made["kind"])} monitor`
    const { left } = source
    const rest = [
      ...(left.length > 0 ? [`left out: ${left.join(", ")}`] : []),
      ...(notes === undefined ? [] : [notes])
    ]
    return { source: named, text: [`${what} ${String(made["key"])}`, ...rest].join("; ") }
  })
  return { document: documentOf(tasks, monitors), reports }
}

export const documentOf = (
  tasks: ReadonlyArray<Fields>,
  monitors: ReadonlyArray<Fields>
): Fields => ({
  version: 1,
  ...(tasks.length > 0 && { tasks }),
  ...(monitors.length > 0 && { monitors })
})
