import { Result } from "effect"
import {
  type TemplateCall,
  templateUrlProblems,
  withPlaceholders
} from "@scheduling/domain/calls/TemplateCall"
import {
  hasBraces,
  parseTemplate,
  type Reference,
  type Template
} from "@scheduling/domain/calls/Template"
import { headersProblems } from "@scheduling/domain/calls/CallHeaders"
import { maxUrlLength, parseCallUrl } from "@scheduling/domain/calls/CallUrl"
import { isBodyWithinLimit, maxBodyBytes } from "@scheduling/domain/calls/HttpCall"
import type { TemplateValues } from "./templateValues.ts"

/**
 * Substitutes the references of a call, or fails with the reason why the call cannot be made. Each
 * value is encoded for its position, so that no response can inject a header, a query field or a
 * key:
 *
 * - in the URL it is percent-encoded, and may not make a path segment empty, "." or "..";
 * - in a header it is plain text, and a line break is rejected;
 * - in a JSON body (`content-type` is absent or JSON, and the template is JSON) it is escaped text
 *   inside a string and a JSON value elsewhere;
 * - in a form body (`application/x-www-form-urlencoded`) it is percent-encoded;
 * - in any other body it is plain text.
 */
export const renderCall = (
  call: TemplateCall,
  values: TemplateValues
): Result.Result<TemplateCall, string> => {
  // Written without generators, which would double the time.
  const url = renderUrl(call.url, values)
  if (Result.isFailure(url)) return Result.fail(url.failure)
  const headers = renderHeaders(call.headers, values)
  if (Result.isFailure(headers)) return Result.fail(headers.failure)
  if (call.body === null) {
    return Result.succeed({ url: url.success, headers: headers.success, body: null })
  }
  const body = renderBody(call.body, headers.success, values)
  return Result.isFailure(body)
    ? Result.fail(body.failure)
    : Result.succeed({ url: url.success, headers: headers.success, body: body.success })
}

/** The maximum length of a wait step's `until` or an approval's message, with values filled in. */
const maxTextLength = 1_000

/** Substitutes the references of a text that is not sent to a target. */
export const renderText = (
  field: string,
  source: string,
  values: TemplateValues
): Result.Result<string, string> =>
  Result.flatMap(parsed(field, source), (template) =>
    fillTemplate(field, template, maxTextLength, values.text)
  )

const renderUrl = (source: string, values: TemplateValues): Result.Result<string, string> => {
  if (!hasBraces(source)) return Result.succeed(source)
  const [wrong] = templateUrlProblems(source)
  if (wrong !== undefined) return Result.fail(inField("url", wrong))
  const template = parsed("url", source)
  if (Result.isFailure(template)) return Result.fail(template.failure)
  const text = fillTemplate("url", template.success, maxUrlLength, (reference) =>
    Result.map(values.text(reference), percentEncode)
  )
  if (Result.isFailure(text)) return text
  const url = parseCallUrl(text.success)
  if (Result.isFailure(url)) return Result.fail(inField("url", url.failure))
  return pathShape(url.success) === pathShape(new URL(withPlaceholders(template.success)))
    ? text
    : Result.fail('url: a value must not leave a part of the path empty, "." or ".."')
}

/**
 * Returns the shape of a path. Values contain no "/", so a path keeps its shape unless a value
 * makes a segment empty, "." or "..". With an empty id, `DELETE /users/{{ ... }}` would address all
 * users.
 */
const pathShape = (url: URL): string => url.pathname.replace(/[^/]+/g, "x")

const renderHeaders = (
  sources: TemplateCall["headers"],
  values: TemplateValues
): Result.Result<TemplateCall["headers"], string> => {
  let rendered: Record<string, string> | undefined
  for (const name in sources) {
    const source = sources[name] ?? ""
    if (!hasBraces(source)) continue
    const field = `header ${name}`
    const template = parsed(field, source)
    if (Result.isFailure(template)) return Result.fail(template.failure)
    const value = fillTemplate(field, template.success, maxHeaderLength, values.text)
    if (Result.isFailure(value)) return Result.fail(value.failure)
    rendered ??= { ...sources }
    rendered[name] = value.success
  }
  if (rendered === undefined) return Result.succeed(sources)
  const [problem] = headersProblems(rendered)
  return problem === undefined
    ? Result.succeed(rendered)
    : Result.fail(["header", ...problem.path, problem.problem].join(" "))
}

/**
 * The maximum length of a header with its values filled in. It equals the limit on all headers
 * together, which `headersProblems` checks.
 */
const maxHeaderLength = 16 * 1024

const renderBody = (
  source: string,
  headers: TemplateCall["headers"],
  values: TemplateValues
): Result.Result<string, string> => {
  if (!hasBraces(source)) return Result.succeed(source)
  const template = parsed("body", source)
  if (Result.isFailure(template)) return Result.fail(template.failure)
  const type = mediaType(headers)
  const positions = jsonType.test(type) ? jsonPositions(template.success) : undefined
  const text = fillTemplate("body", template.success, maxBodyBytes, (reference, index) => {
    if (positions?.[index] === "value") return values.json(reference)
    const value = values.text(reference)
    if (positions !== undefined) return Result.map(value, escapeJson)
    return type === formType ? Result.map(value, percentEncode) : value
  })
  return Result.isFailure(text) || isBodyWithinLimit(text.success)
    ? text
    : Result.fail("body must be at most 256 KiB")
}

const formType = "application/x-www-form-urlencoded"
const jsonType = /^[^/]+\/(?:[^/]+\+)?json$/

const mediaType = (headers: TemplateCall["headers"]): string => {
  const header = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")
  const [type = ""] = (header?.[1] ?? "application/json").split(";")
  return type.trim().toLowerCase()
}

/**
 * Determines whether each reference of a JSON template is inside a string or is a separate value.
 * Returns undefined if the template is not JSON, because it then has no structure to protect.
 */
const jsonPositions = (template: Template): ReadonlyArray<"string" | "value"> | undefined => {
  const positions: Array<"string" | "value"> = []
  let sample = ""
  let inString = false
  for (const part of template) {
    if (typeof part !== "string") {
      positions.push(inString ? "string" : "value")
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
    return positions
  } catch {
    return undefined
  }
}

/**
 * Substitutes every reference. Fails at the first reference without a value, or if the text becomes
 * too long.
 */
const fillTemplate = (
  field: string,
  template: Template,
  maxLength: number,
  fill: (reference: Reference, index: number) => Result.Result<string, string>
): Result.Result<string, string> => {
  let text = ""
  let index = 0
  for (const part of template) {
    if (typeof part === "string") {
      text += part
    } else {
      const value = fill(part, index++)
      if (Result.isFailure(value)) return Result.fail(inField(field, value.failure))
      text += value.success
    }
    if (text.length > maxLength) {
      return Result.fail(inField(field, `is longer than ${maxLength} characters`))
    }
  }
  return Result.succeed(text)
}

/** JSON can contain an unpaired surrogate, which has no percent-encoding. */
const percentEncode = (text: string): string => encodeURIComponent(text.toWellFormed())

const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1)

const parsed = (field: string, source: string): Result.Result<Template, string> =>
  Result.mapError(parseTemplate(source), (problems) => inField(field, problems.join("; ")))

const inField = (field: string, problem: string): string =>
  /^(?:has|is|may|must|refers) /.test(problem) ? `${field} ${problem}` : `${field}: ${problem}`
