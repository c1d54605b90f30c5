import { Result } from "effect"
import { createHash } from "node:crypto"
import type { Reference, TimeFormat } from "@scheduling/domain/calls/Template"

/** The latest response to a step. */
export interface StepResponse {
  readonly status_code: number | null
  readonly response_body: string | null
}

/** The values available to the references of a call. */
export interface CallValues {
  /** The execution, or the chain run. */
  readonly run: { readonly id: string; readonly attempt: number; readonly scheduled_ms: number }
  readonly task: { readonly name: string | null; readonly key: string | null } | null
  /** The input of the run as JSON. */
  readonly input: string | null
  readonly steps: ReadonlyMap<string, StepResponse>
  readonly secrets: ReadonlyMap<string, string>
  /** When the attempt began. */
  readonly now_ms: number
}

/** Looks up the values of references. Fails with the reason if a reference has no value. */
export interface TemplateValues {
  /** Returns the value as plain text: strings verbatim, objects and arrays as JSON. */
  readonly text: (reference: Reference) => Result.Result<string, string>
  /** Returns the value as JSON: strings quoted, and `body` parsed as JSON. */
  readonly json: (reference: Reference) => Result.Result<string, string>
}

/**
 * Provides the values of one call. A step has no response if it was skipped or if no server
 * responded. Each body is parsed at most once, and only if a reference needs a value in it. The
 * same call of the same attempt has the same values, so that the request of an attempt can be shown
 * later.
 */
export const templateValuesOf = ({
  input,
  now_ms,
  run,
  secrets,
  steps,
  task
}: CallValues): TemplateValues => {
  const documents = new Map<string, Result.Result<unknown, string>>()
  let uuids = 0

  const document = (
    name: string,
    text: string,
    problem = `${name} is not JSON, or is longer than the 10,000 bytes that are stored`
  ): Result.Result<unknown, string> => {
    const known = documents.get(name)
    if (known !== undefined) return known
    const parsed = Result.try({ try: () => JSON.parse(text, keepDigits), catch: () => problem })
    documents.set(name, parsed)
    return parsed
  }

  const inputAt = (path: Reference["path"]) => {
    if (input === null) return Result.fail("input is missing: the run was started without one")
    const parsed = document("input", input, "input is not JSON")
    return Result.flatMap(parsed, (whole) => walk(whole, path, "input"))
  }

  const answerOf = (
    { field, path, step }: Extract<Reference, { readonly root: "steps" }>,
    whole: "text" | "json"
  ): Result.Result<unknown, string> => {
    const answer = steps.get(step)
    const found = field === "status" ? answer?.status_code : answer?.response_body
    if (found === undefined || found === null) {
      return Result.fail(
        `steps.${step}.${field} is missing: the step was skipped or got no response`
      )
    }
    if (typeof found === "number" || (path.length === 0 && whole === "text")) {
      return Result.succeed(found)
    }
    const name = `steps.${step}.body`
    return Result.flatMap(document(name, found), (body) => walk(body, path, name))
  }

  const value = (reference: Reference, whole: "text" | "json"): Result.Result<unknown, string> => {
    switch (reference.root) {
      case "steps":
        return answerOf(reference, whole)
      case "input":
        return inputAt(reference.path)
      case "run":
        return Result.succeed(
          reference.field === "scheduled_for"
            ? formatTime(run.scheduled_ms, reference.format)
            : run[reference.field]
        )
      case "task":
        return Result.succeed(task?.[reference.field] ?? null)
      case "secrets": {
        const secret = secrets.get(reference.name)
        return secret === undefined
          ? Result.fail(`secrets.${reference.name} is missing`)
          : Result.succeed(secret)
      }
      case "now":
        return Result.succeed(formatTime(now_ms, reference.format))
      case "uuid":
        return Result.succeed(uuidOf(run.id, `${run.attempt}/${uuids++}`))
    }
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

/** Formats a time in UTC. Date parts have leading zeros, as in paths and file names. */
const formatTime = (ms: number, format: TimeFormat): string | number => {
  const iso = new Date(ms).toISOString()
  switch (format) {
    case "iso":
      return iso
    case "date":
      return iso.slice(0, 10)
    case "year":
      return iso.slice(0, 4)
    case "month":
      return iso.slice(5, 7)
    case "day":
      return iso.slice(8, 10)
    case "hour":
      return iso.slice(11, 13)
    case "minute":
      return iso.slice(14, 16)
    case "unix":
      return Math.floor(ms / 1_000)
    case "unix_ms":
      return Math.floor(ms)
  }
}

/**
 * Returns a version 5 UUID (RFC 9562): the hash of a name within a namespace, which is also a UUID.
 */
const uuidOf = (namespace: string, name: string): string => {
  const hash = createHash("sha1")
    .update(Buffer.from(namespace.replaceAll("-", ""), "hex"))
    .update(name)
    .digest()
  hash[6] = (hash.readUInt8(6) & 0x0f) | 0x50
  hash[8] = (hash.readUInt8(8) & 0x3f) | 0x80
  const hex = hash.toString("hex")
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32)
  ].join("-")
}

const walk = (
  root: unknown,
  path: Reference["path"],
  rootName: string
): Result.Result<unknown, string> => {
  let value = root
  let name = rootName
  for (const key of path) {
    const inside = ownProperty(value, key)
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
 * Reads own properties only: a response may use `__proto__`, `constructor` or `length` as ordinary
 * keys.
 */
const ownProperty = (
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
 * Formats a value as JSON. JSON that is nested a thousand levels deep can be parsed, but overflows
 * the stack in `stringify`.
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
   * ES2026 "JSON.parse source text access". Every supported version of Node has it, but TypeScript
   * does not declare it yet.
   */
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: object): boolean
  }
}
