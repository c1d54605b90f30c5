import { Result, Schema } from "effect"
import { headersProblems } from "../shared/CallHeaders.ts"
import { maxUrlLength, parseCallUrl } from "../shared/CallUrl.ts"
import { bodyFits, maxBodyBytes } from "../shared/HttpCall.ts"
import type { Answers } from "./Answers.ts"
import {
  countBraces,
  fillTemplate,
  parseTemplate,
  place,
  referencesOf,
  type Template
} from "./Template.ts"

/** The parts of a call that may hold references. */
export interface StepCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/**
 * References may stand in the path, the query and the fragment. Not before: the answer of one
 * server must not decide which other server gets the headers of the step.
 */
const untilPath = /^https?:\/\/[^/?#\\]+[/?#\\]/i

export const StepUrl = Schema.String.check(
  Schema.makeFilter((url) => urlProblems(url), {
    expected: "an http or https URL",
    toJsonSchema: () => ({ maxLength: maxUrlLength })
  })
).annotate({
  description: "The path and the query may use references to earlier steps.",
  examples: ["https://api.example.com/orders/{{ steps.order.body.id }}"]
})

const urlProblems = (url: string): ReadonlyArray<string> => {
  if (url.length > maxUrlLength) return [`must be at most ${maxUrlLength} characters long`]
  const template = parseTemplate(url)
  if (Result.isFailure(template)) return template.failure
  const [first] = referencesOf(template.success)
  if (first !== undefined && !untilPath.test(url.slice(0, first.at))) {
    return [`may use references only after the host, not ${place(first.at)}`]
  }
  const parsed = parseCallUrl(withPlaceholders(template.success))
  return Result.isFailure(parsed) ? [parsed.failure] : []
}

const withPlaceholders = (template: Template): string =>
  template.map((part) => (typeof part === "string" ? part : "x")).join("")

/** The earlier steps whose answers a call uses. */
export const stepsUsedBy = (call: StepCall): ReadonlySet<string> => {
  const texts = [call.url, ...Object.values(call.headers), call.body ?? ""]
  const templates = texts.map((text) => Result.getOrElse(parseTemplate(text), () => []))
  return new Set(templates.flatMap(referencesOf).map(({ step }) => step))
}

interface Problem {
  readonly path: ReadonlyArray<PropertyKey>
  readonly issue: string
}

/** At most how many references the steps hold, not counting those in their URLs, which are short. */
export const countReferences = (steps: ReadonlyArray<Partial<StepCall>>): number =>
  steps
    .flatMap(({ body, headers = {} }) => [body ?? "", ...Object.values(headers)])
    .reduce((count, text) => count + countBraces(text), 0)

/** What is wrong with the references of a step that may use the steps named `earlier`. */
export const referenceProblems = (
  call: Partial<StepCall>,
  earlier: ReadonlySet<string>
): ReadonlyArray<Problem> => {
  const headers = Object.entries(call.headers ?? {})
  const texts: ReadonlyArray<readonly [ReadonlyArray<PropertyKey>, string | null | undefined]> = [
    [["url"], call.url],
    ...headers.map(([name, value]) => [["headers", name], value] as const),
    [["body"], call.body]
  ]
  return texts.flatMap(([path, text]) => {
    const template = parseTemplate(text ?? "")
    const issues = Result.isFailure(template)
      ? template.failure
      : referencesOf(template.success)
          .filter(({ step }) => !earlier.has(step))
          .slice(0, 10)
          .map(({ at, step, text }) => `${text} ${place(at)}: "${step}" is not an earlier step`)
    return issues.map((issue) => ({ path, issue }))
  })
}

/**
 * The call with everything filled in, or why it cannot be made. What a value becomes depends on
 * where it stands, so that no answer can add a header, a query field or a key of its own:
 *
 * - in the URL it is percent-encoded, and can neither empty a part of the path nor climb out;
 * - in a header it is text, and a line break in it is refused;
 * - in a JSON body (`content-type` absent or JSON, and the template is JSON): inside a string it
 *   is escaped text, elsewhere it is a JSON value;
 * - in a form body (`application/x-www-form-urlencoded`) it is percent-encoded;
 * - in any other body it is text as it is.
 */
export const renderCall = (call: StepCall, answers: Answers): Result.Result<StepCall, string> =>
  Result.gen(function* () {
    const url = yield* renderUrl(call.url, answers)
    const headers = yield* renderHeaders(call.headers, answers)
    const body = call.body === null ? null : yield* renderBody(call.body, headers, answers)
    return { url, headers, body }
  })

const renderUrl = (source: string, answers: Answers): Result.Result<string, string> =>
  Result.gen(function* () {
    const [wrong] = urlProblems(source)
    if (wrong !== undefined) return yield* Result.fail(inField("url", wrong))
    const template = yield* parsed("url", source)
    const text = yield* fillTemplate(template, maxUrlLength, (reference) =>
      Result.map(answers.text(reference), percentEncode)
    ).pipe(Result.mapError((problem) => inField("url", problem)))
    const url = yield* Result.mapError(parseCallUrl(text), (problem) => inField("url", problem))
    if (pathShape(url) !== pathShape(new URL(withPlaceholders(template)))) {
      return yield* Result.fail('url: a value must not leave a part of the path empty, "." or ".."')
    }
    return text
  })

/**
 * Values hold no "/", so a path keeps its shape unless one is empty, "." or "..": with an empty id
 * `DELETE /users/{{ ... }}` would be about all users.
 */
const pathShape = (url: URL): string => url.pathname.replace(/[^/]+/g, "x")

const renderHeaders = (
  sources: StepCall["headers"],
  answers: Answers
): Result.Result<StepCall["headers"], string> =>
  Result.gen(function* () {
    const headers: Array<readonly [string, string]> = []
    for (const [name, source] of Object.entries(sources)) {
      const field = `header ${name}`
      const template = yield* parsed(field, source)
      const value = yield* fillTemplate(template, maxHeaderLength, answers.text).pipe(
        Result.mapError((problem) => inField(field, problem))
      )
      headers.push([name, value])
    }
    const rendered = Object.fromEntries(headers)
    const [problem] = headersProblems(rendered)
    if (problem !== undefined) {
      return yield* Result.fail(["header", ...problem.path, problem.issue].join(" "))
    }
    return rendered
  })

/** Above what all headers together may have, so that `headersProblems` has the last word. */
const maxHeaderLength = 16 * 1024

const renderBody = (
  source: string,
  headers: StepCall["headers"],
  answers: Answers
): Result.Result<string, string> =>
  Result.gen(function* () {
    const template = yield* parsed("body", source)
    const type = mediaType(headers)
    const places = jsonType.test(type) ? jsonPlaces(template) : undefined
    const text = yield* fillTemplate(template, maxBodyBytes, (reference, index) => {
      if (places?.[index] === "value") return answers.json(reference)
      const value = answers.text(reference)
      if (places !== undefined) return Result.map(value, escapeJson)
      return type === formType ? Result.map(value, percentEncode) : value
    }).pipe(Result.mapError((problem) => inField("body", problem)))
    return bodyFits(text) ? text : yield* Result.fail("body is longer than 256 KiB")
  })

const formType = "application/x-www-form-urlencoded"
const jsonType = /^[^/]+\/(?:[^/]+\+)?json$/

const mediaType = (headers: StepCall["headers"]): string => {
  const header = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")
  const [type = ""] = (header?.[1] ?? "application/json").split(";")
  return type.trim().toLowerCase()
}

/**
 * Where each reference of a JSON template stands, or nothing where the template is not JSON: then
 * there is no structure to protect.
 */
export const jsonPlaces = (template: Template): ReadonlyArray<"string" | "value"> | undefined => {
  const places: Array<"string" | "value"> = []
  let sample = ""
  let inString = false
  for (const part of template) {
    if (typeof part !== "string") {
      places.push(inString ? "string" : "value")
      sample += inString ? "x" : "null"
      continue
    }
    sample += part
    for (let index = 0; index < part.length; index++) {
      const character = part[index]
      if (character === '"') inString = !inString
      else if (character === "\\" && inString) index++
    }
  }
  try {
    JSON.parse(sample)
    return places
  } catch {
    return undefined
  }
}

/** Half a surrogate pair, which JSON can carry, has no encoding. */
const percentEncode = (text: string): string => encodeURIComponent(text.toWellFormed())

const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1)

const parsed = (field: string, source: string): Result.Result<Template, string> =>
  Result.mapError(parseTemplate(source), (problems) => inField(field, problems.join("; ")))

const inField = (field: string, problem: string): string =>
  /^(?:is|may|must) /.test(problem) ? `${field} ${problem}` : `${field}: ${problem}`
