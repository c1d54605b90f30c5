import { Result } from "effect"
import type { Reference } from "@scheduling/domain/chains/Template"

/** The last answer to a step. */
export interface StepAnswer {
  readonly status_code: number | null
  readonly response_body: string | null
}

/** Looks up the value of a reference. Fails with the reason if there is none. */
export interface Answers {
  /** Writes the value as plain text: strings as they are, objects and arrays as JSON. */
  readonly text: (reference: Reference) => Result.Result<string, string>
  /** Writes the value as JSON: strings in quotes, and `body` read as JSON. */
  readonly json: (reference: Reference) => Result.Result<string, string>
}

/**
 * Reads the answers of earlier steps, and the input of the run, which is JSON. A step has no answer if
 * it was skipped or if no server answered it. Each body is parsed at most once, and only if a reference
 * asks for a value in it.
 */
export const answersOf = (
  steps: ReadonlyMap<string, StepAnswer>,
  input: string | null = null
): Answers => {
  const documents = new Map<string, Result.Result<unknown, string>>()

  const document = (
    name: string,
    text: string,
    problem = `${name} is not JSON within the 10,000 bytes that are kept`
  ): Result.Result<unknown, string> => {
    const known = documents.get(name)
    if (known !== undefined) return known
    const parsed = Result.try({ try: () => JSON.parse(text, keepDigits), catch: () => problem })
    documents.set(name, parsed)
    return parsed
  }

  const value = (reference: Reference, whole: "text" | "json"): Result.Result<unknown, string> => {
    const { path } = reference
    if (reference.root === "input") {
      if (input === null) return Result.fail("input is missing: the run was started without one")
      const parsed = document("input", input, "input is not JSON")
      return Result.flatMap(parsed, (whole) => walk(whole, path, "input"))
    }
    const { field, step } = reference
    const answer = steps.get(step)
    const found = field === "status" ? answer?.status_code : answer?.response_body
    if (found === undefined || found === null) {
      return Result.fail(`steps.${step}.${field} is missing: the step was skipped or got no answer`)
    }
    if (typeof found === "number" || (path.length === 0 && whole === "text")) {
      return Result.succeed(found)
    }
    const name = `steps.${step}.body`
    return Result.flatMap(document(name, found), (body) => walk(body, path, name))
  }

  return {
    text: (reference) =>
      Result.flatMap(value(reference, "text"), (found) => {
        if (found === null) return Result.fail(`${reference.text} is null`)
        return typeof found === "string" ? Result.succeed(found) : toJson(found, reference)
      }),
    json: (reference) =>
      Result.flatMap(value(reference, "json"), (found) => toJson(found, reference))
  }
}

const walk = (
  root: unknown,
  path: Reference["path"],
  rootName: string
): Result.Result<unknown, string> => {
  let value = root
  let name = rootName
  for (const key of path) {
    const inside = own(value, key)
    if (inside === undefined) {
      return Result.fail(`${name} is not ${typeof key === "number" ? "an array" : "an object"}`)
    }
    name +=
      typeof key === "number"
        ? `[${key}]`
        : plainKey.test(key)
          ? `.${key}`
          : `[${JSON.stringify(key)}]`
    if (!inside.present) return Result.fail(`${name} is missing`)
    value = inside.value
  }
  return Result.succeed(value)
}

const plainKey = /^[A-Za-z_$][\w$-]*$/

/**
 * Reads own properties only: an answer may use `__proto__`, `constructor` or `length` as ordinary
 * keys.
 */
const own = (
  container: unknown,
  key: string | number
): { readonly present: boolean; readonly value: unknown } | undefined => {
  if (typeof container !== "object" || container === null || JSON.isRawJSON(container)) {
    return undefined
  }
  if (Array.isArray(container) !== (typeof key === "number")) return undefined
  return Object.hasOwn(container, key)
    ? { present: true, value: (container as Readonly<Record<string | number, unknown>>)[key] }
    : { present: false, value: undefined }
}

/**
 * JSON that is nested a thousand levels deep can be parsed, but overflows the stack in `stringify`.
 */
const toJson = (value: unknown, reference: Reference): Result.Result<string, string> =>
  Result.try({
    try: () => JSON.stringify(value),
    catch: () => `${reference.text} is nested too deeply`
  })

/** Keeps the digits of numbers, because an id above 2^53 would change as a JavaScript number. */
const keepDigits = (
  _key: string,
  value: unknown,
  context?: { readonly source?: string }
): unknown =>
  typeof value === "number" && context?.source !== undefined && String(value) !== context.source
    ? JSON.rawJSON(context.source)
    : value

declare global {
  /**
   * ES2026 "JSON.parse source text access". Every supported Node has it; TypeScript does not yet.
   */
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: object): boolean
  }
}
