// A step of a chain may use the answers of earlier steps, and the input of its run:
//
//   {{ steps.login.status }}              the status code
//   {{ steps.login.body }}                the body
//   {{ steps.login.body.items[0].id }}    a value in a JSON body
//   {{ steps.login.body["odd key"] }}     a value whose key is not a plain name
//   {{ input }}                           the input, with which somebody started the run
//   {{ input.items[0].id }}               a value in the input
//   {{ '{{' }}                            two braces as text
//
// `}}` on its own is text, because JSON is full of it.

import { Result } from "effect"

export type Reference = StepReference | InputReference

interface ReferenceParts {
  /** The reference as written, without the braces. For error messages. */
  readonly text: string
  /** The offset at which its braces open. */
  readonly at: number
  /** The keys and indexes below its root. */
  readonly path: ReadonlyArray<string | number>
}

export interface StepReference extends ReferenceParts {
  readonly root: "steps"
  readonly step: string
  readonly field: "status" | "body"
}

export interface InputReference extends ReferenceParts {
  readonly root: "input"
}

/** Text and references, in the order in which they are written. */
export type Template = ReadonlyArray<string | Reference>

/** The names that a step may have, so that references can name it. */
export const stepName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** How many keys and indexes deep a reference may reach. */
const maxPath = 100

/** A text of 256 KiB can contain 13,000 mistakes. The first few are enough. */
const maxProblems = 10

export const parseTemplate = (source: string): Result.Result<Template, ReadonlyArray<string>> => {
  const parts: Array<string | Reference> = []
  const problems: Array<string> = []
  let position = 0
  while (problems.length < maxProblems) {
    const at = source.indexOf("{{", position)
    if (at === -1) break
    if (at > position) parts.push(source.slice(position, at))
    const close = source.indexOf("}}", at + 2)
    if (close === -1) {
      // Stops here, because looking for the end of each further one would take quadratic time.
      problems.push(
        `has a "{{" ${place(at)} that is not closed; write {{ '{{' }} for the braces themselves`
      )
      position = source.length
      break
    }
    const found = parseExpression(source, at)
    if (found === undefined) {
      problems.push(
        `has ${shown(source.slice(at, close + 2))} ${place(at)}, which is not a reference such as ` +
          "{{ steps.<name>.status }}, {{ steps.<name>.body.<key>[0] }} or {{ input.<key> }}"
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

/** An upper bound for the number of references in a text, found without parsing them. */
export const countBraces = (source: string): number => {
  let count = 0
  for (let at = source.indexOf("{{"); at !== -1; at = source.indexOf("{{", at + 2)) count++
  return count
}

export const referencesOf = (template: Template): ReadonlyArray<Reference> =>
  template.filter((part) => typeof part !== "string")

export const place = (at: number): string => `at character ${at + 1}`

const opening = /\{\{\s*/y
const braces = /'\{\{'/y
const stepRoot = /steps\.([A-Za-z][A-Za-z0-9_-]{0,63})\.(status|body)/y
const inputRoot = /input(?![\w$-])/y
const dottedKey = /\.([A-Za-z_$][\w$-]*)/y
const arrayIndex = /\[(\d{1,9})\]/y
const quotedKey = /\[("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")\]/uy
const closing = /\s*\}\}/y

const parseExpression = (
  source: string,
  at: number
): { readonly part: string | Reference; readonly end: number } | undefined => {
  let position = at
  const read = (pattern: RegExp): RegExpExecArray | null => {
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
  const root = readRoot(read)
  if (root === undefined) return undefined

  const path: Array<string | number> = []
  if (root.root === "input" || root.field === "body") {
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
  }
  const text = source.slice(start, position)
  if (path.length > maxPath || read(closing) === null) return undefined
  return { part: { ...root, text, at, path }, end: position }
}

const readRoot = (read: (pattern: RegExp) => RegExpExecArray | null) => {
  if (read(inputRoot) !== null) return { root: "input" } as const
  const [, step, field] = read(stepRoot) ?? []
  if (step === undefined || (field !== "status" && field !== "body")) return undefined
  return { root: "steps", step, field } as const
}

/** What a user wrote, shortened so that an answer stays readable. */
const shown = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
