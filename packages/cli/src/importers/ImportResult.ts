import { parseScheduleCached } from "@scheduling/schedules/parseScheduleCached"
import { CommandError } from "../Command.ts"

export type Fields = Readonly<Record<string, unknown>>

/** The result of importing one line or one record of the source. */
export interface RecordReport {
  readonly source: string
  readonly outcome: string
}

/** The document of the converted records, and a report for each record or line of the source. */
export interface ImportResult {
  readonly document: Fields
  readonly reports: ReadonlyArray<RecordReport>
}

/** The converted record, or why it cannot be converted. */
export type ConversionResult =
  | { readonly section: "tasks" | "monitors"; readonly record: Fields; readonly notes?: string }
  | string

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns a list's records. The list is either the whole value or in one of its fields. */
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

/**
 * Reads a record's fields, and tracks which fields have not been read, so that the report can list
 * what was left out.
 */
export class RecordReader {
  readonly #record: Fields
  readonly #left: Set<string>

  /**
   * `state` names the fields that describe the record's current state and not its settings. The
   * report never lists them as left out.
   */
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

  /** Returns the number in a field, limited to the bounds. Undefined if the field has no number. */
  number(name: string, least: number, most: number): number | undefined {
    const value = Number(this.take(name) ?? Number.NaN)
    return Number.isFinite(value) ? Math.min(most, Math.max(least, Math.round(value))) : undefined
  }

  object(name: string): Fields {
    const value = this.take(name)
    return isFields(value) ? value : {}
  }

  /** The names of the fields that have a value but have not been read. */
  get left(): ReadonlyArray<string> {
    return [...this.#left].toSorted()
  }
}

/** Returns why the service would reject the cron expression, or undefined if it is valid. */
export const scheduleProblem = (schedule: string): string | undefined => {
  const reading = parseScheduleCached(schedule)
  return reading.ok ? undefined : reading.issues.map(({ message }) => message).join("; ")
}

/** Returns a function that makes a unique key from each name. */
export const makeUniqueKeys = (): ((name: string) => string) => {
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

/** Returns the tags that the service accepts: at most 20 different ones of 1 to 50 characters. */
export const tagsField = (tags: ReadonlyArray<unknown>): Fields => {
  const texts = tags.map((tag) => String(tag).trim().slice(0, 50)).filter((tag) => tag !== "")
  const some = [...new Set(texts)].slice(0, 20)
  return some.length > 0 ? { tags: some } : {}
}

/** Returns only the fields that have a value. */
export const definedOnly = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const credentials = /^(?:authorization|cookie|.*(?:token|secret|password|api-?key).*)$/i

/**
 * Returns a note about headers that contain a credential, because the credential would be stored in
 * the record.
 */
export const credentialNote = (headers: Fields): string | undefined => {
  const found = Object.keys(headers).filter((name) => credentials.test(name))
  return found.length === 0 ? undefined : `move the value of ${found.join(", ")} into a secret`
}

/** Converts each record, and reports the result together with the fields that were left out. */
export const convertRecords = (
  records: ReadonlyArray<Fields>,
  nameOf: (record: Fields, index: number) => string,
  convert: (source: RecordReader) => ConversionResult,
  state: ReadonlyArray<string>
): ImportResult => {
  const tasks: Array<Fields> = []
  const monitors: Array<Fields> = []
  const reports = records.map((record, index): RecordReport => {
    const source = new RecordReader(record, state)
    const named = nameOf(record, index)
    const converted = convert(source)
    if (typeof converted === "string") {
      return { source: named, outcome: `not carried over: ${converted}` }
    }
    const { notes, record: made, section } = converted
    ;(section === "tasks" ? tasks : monitors).push(made)
    const what = section === "tasks" ? "the cron task" : `the ${String(made["kind"])} monitor`
    const { left } = source
    const rest = [
      ...(left.length > 0 ? [`left out: ${left.join(", ")}`] : []),
      ...(notes === undefined ? [] : [notes])
    ]
    return { source: named, outcome: [`${what} ${String(made["key"])}`, ...rest].join("; ") }
  })
  return { document: documentOfRecords(tasks, monitors), reports }
}

export const documentOfRecords = (
  tasks: ReadonlyArray<Fields>,
  monitors: ReadonlyArray<Fields>
): Fields => ({
  version: 1,
  ...(tasks.length > 0 && { tasks }),
  ...(monitors.length > 0 && { monitors })
})
