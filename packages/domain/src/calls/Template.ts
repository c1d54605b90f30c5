// A call's URL, headers and body can contain references to values that are known when the call is
// sent:
//
// {{ secrets.API_TOKEN }}               a secret of the workspace {{ run.id }}
// the id of the execution, or of the run of a chain {{ run.attempt }}                     1 for the
// first attempt {{ run.scheduled_for }}               when the run was due {{ task.name }}, {{
// task.key }}       the name and the key of the task or chain {{ input }}
// the input that was given when the run was started {{ input.items[0].id }}               a value
// in the input {{ now }}                             when the attempt began {{ now.date }}
// a part of a time: see `timeFormats` {{ uuid }}                            a UUID, a different one
// for each reference and attempt {{ steps.login.status }}              the status code of an
// earlier step of a chain {{ steps.login.body }}                the response body of an earlier
// step {{ steps.login.body.items[0].id }}    a value in a JSON response body {{
// steps.login.body["odd key"] }}     a value whose key is not a plain name {{ '{{' }}
// two braces as text
//
// `}}` on its own is text, because it is common in JSON.

import { Result } from "effect"

/** The formats of a timestamp in a reference, in UTC. The default is ISO 8601. */
export const timeFormats = [
  "date",
  "year",
  "month",
  "day",
  "hour",
  "minute",
  "unix",
  "unix_ms"
] as const
export type TimeFormat = (typeof timeFormats)[number] | "iso"

/** The value that a reference refers to. */
type Named =
  | { readonly root: "steps"; readonly step: string; readonly field: "status" | "body" }
  | { readonly root: "input" }
  | { readonly root: "run"; readonly field: "id" | "attempt" }
  | { readonly root: "run"; readonly field: "scheduled_for"; readonly format: TimeFormat }
  | { readonly root: "task"; readonly field: "name" | "key" }
  | { readonly root: "secrets"; readonly name: string }
  | { readonly root: "now"; readonly format: TimeFormat }
  | { readonly root: "uuid" }

export type Reference = Named & {
  /** The reference as written, without the braces, for error messages. */
  readonly text: string
  /** The offset of the opening braces. */
  readonly at: number
  /** The keys and indexes below the root. */
  readonly path: ReadonlyArray<string | number>
}

/** Text and references, in source order. */
export type Template = ReadonlyArray<string | Reference>

/** The pattern of step names. `root`, which parses references, contains the same pattern. */
export const stepNamePattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** The valid secret names. */
export const secretNamePattern = /^[A-Z][A-Z0-9_]{0,62}$/

/** The maximum number of keys and indexes in a reference. */
const maxPath = 100

/** The maximum number of reported problems. A text of 256 KiB can contain 13,000 of them. */
const maxProblems = 10

/** Returns true if a text may contain references, without parsing it. */
export const hasBraces = (source: string): boolean => source.includes("{{")

/** A cache of parsed templates by source text, for calls that are made repeatedly. */
const parsedTemplates = new Map<string, Parsed>()
const maxCachedTemplates = 1_000
const maxCachedLength = 1_000

type Parsed = Result.Result<Template, ReadonlyArray<string>>

export const parseTemplate = (source: string): Parsed => {
  const known = parsedTemplates.get(source)
  if (known !== undefined) return known
  const parsed = parse(source)
  if (source.length <= maxCachedLength) {
    if (parsedTemplates.size >= maxCachedTemplates) parsedTemplates.clear()
    parsedTemplates.set(source, parsed)
  }
  return parsed
}

const parse = (source: string): Parsed => {
  const parts: Array<string | Reference> = []
  const problems: Array<string> = []
  let position = 0
  while (problems.length < maxProblems) {
    const at = source.indexOf("{{", position)
    if (at === -1) break
    if (at > position) parts.push(source.slice(position, at))
    const close = source.indexOf("}}", at + 2)
    if (close === -1) {
      // Stops here, because searching for the end of each further reference would take quadratic
      // time.
      problems.push(
        `has a "{{" ${positionText(at)} that is not closed; write {{ '{{' }} for the braces themselves`
      )
      position = source.length
      break
    }
    const found = parseExpression(source, at)
    if (found === undefined) {
      const text = source.slice(at, close + 2)
      problems.push(
        `has ${shown(text)} ${positionText(at)}, which is not a reference such as ` +
          "{{ secrets.<NAME> }}, {{ input.<key> }}, {{ run.id }}, {{ task.name }}, {{ now }} or " +
          "{{ steps.<name>.body.<key>[0] }}; " +
          (/^\{\{\s*secrets\./.test(text)
            ? "the name of a secret has only upper-case letters, digits and _"
            : "write {{ '{{' }} for the braces themselves")
      )
    } else {
      parts.push(found.part)
    }
    position = found?.end ?? close + 2
  }
  if (problems.length > 0) return Result.fail(problems)
  if (position < source.length) parts.push(source.slice(position))
  return Result.succeed(parts)
}

/** Returns an upper bound for the number of references in a text, without parsing. */
export const countOpenings = (source: string): number => {
  let count = 0
  for (let at = source.indexOf("{{"); at !== -1; at = source.indexOf("{{", at + 2)) count++
  return count
}

export const referencesOf = (template: Template): ReadonlyArray<Reference> =>
  template.filter((part) => typeof part !== "string")

export const positionText = (at: number): string => `at character ${at + 1}`

const opening = /\{\{\s*/y
const braces = /'\{\{'|"\{\{"/y
const root =
  /steps\.(?<step>[A-Za-z][A-Za-z0-9_-]{0,63})\.(?<field>status|body)|secrets\.(?<secret>[A-Z][A-Z0-9_]{0,62})|run\.(?<run>id|attempt|scheduled_for)|task\.(?<task>name|key)|(?<plain>input|now|uuid)(?![\w$-])/y
const timeFormat = new RegExp(`\\.(${timeFormats.toReversed().join("|")})`, "y")
const dottedKey = /\.([A-Za-z_$][\w$-]*)/y
const arrayIndex = /\[(\d{1,9})\]/y
const quotedKey = /\[("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")\]/uy
const closing = /\s*\}\}/y

type Read = (pattern: RegExp) => RegExpExecArray | null

const parseExpression = (
  source: string,
  at: number
): { readonly part: string | Reference; readonly end: number } | undefined => {
  let position = at
  const read: Read = (pattern) => {
    pattern.lastIndex = position
    const match = pattern.exec(source)
    if (match !== null) position = pattern.lastIndex
    return match
  }

  read(opening)
  if (read(braces) !== null) {
    return read(closing) === null ? undefined : { part: "{{", end: position }
  }
  const start = position
  const named = readNamed(read)
  if (named === undefined) return undefined
  const hasPath = named.root === "input" || (named.root === "steps" && named.field === "body")
  const path = hasPath ? readPath(read) : []
  const text = source.slice(start, position)
  if (path.length > maxPath || read(closing) === null) return undefined
  return { part: { ...named, text, at, path }, end: position }
}

const readNamed = (read: Read): Named | undefined => {
  const { field, plain, run, secret, step, task } = read(root)?.groups ?? {}
  const format = () => (read(timeFormat)?.[1] ?? "iso") as TimeFormat
  if (step !== undefined) return { root: "steps", step, field: field as "status" | "body" }
  if (secret !== undefined) return { root: "secrets", name: secret }
  if (task !== undefined) return { root: "task", field: task as "name" | "key" }
  if (run === "scheduled_for") return { root: "run", field: run, format: format() }
  if (run !== undefined) return { root: "run", field: run as "id" | "attempt" }
  if (plain === "now") return { root: "now", format: format() }
  return plain === undefined ? undefined : { root: plain as "input" | "uuid" }
}

const readPath = (read: Read): ReadonlyArray<string | number> => {
  const path: Array<string | number> = []
  while (path.length <= maxPath) {
    const dotted = read(dottedKey)?.[1]
    if (dotted !== undefined) {
      path.push(dotted)
      continue
    }
    const index = read(arrayIndex)?.[1]
    if (index !== undefined) {
      path.push(Number(index))
      continue
    }
    const quoted = read(quotedKey)?.[1]
    if (quoted === undefined) break
    path.push(JSON.parse(quoted) as string)
  }
  return path
}

/** Truncates user input so that error messages stay readable. */
const shown = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
