import { Result, Schema } from "effect"
import { type FieldProblem, filterIssue } from "../shared/ValidationIssue.ts"
import { type CallAuth, secretsOfAuth } from "./CallAuth.ts"
import { maxUrlLength, parseCallUrl } from "./CallUrl.ts"
import {
  countOpenings,
  hasBraces,
  parseTemplate,
  positionText,
  referencesOf,
  type Template
} from "./Template.ts"

/** The parts of a call that can contain references. */
export interface TemplateCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/**
 * Matches the part of a URL before the path. References are allowed in the path, the query and the
 * fragment, but not before them: a value must not decide which server receives the call's headers,
 * and a secret's allowed hosts are checked against the literal host.
 */
const originPattern = /^https?:\/\/[^/?#\\]+[/?#\\]/i

export const TemplateUrl = Schema.String.check(
  Schema.makeFilter((url) => templateUrlProblems(url), {
    expected: "an http or https URL",
    toJsonSchema: () => ({ maxLength: maxUrlLength })
  })
).annotate({
  description:
    "The URL to call. Must use `http` or `https`. The path and the query may use references.",
  examples: ["https://api.example.com/jobs/nightly"]
})

export const templateUrlProblems = (url: string): ReadonlyArray<string> => {
  if (url.length > maxUrlLength) return [`must be at most ${maxUrlLength} characters long`]
  const template = parseTemplate(url)
  if (Result.isFailure(template)) return template.failure
  const [first] = referencesOf(template.success)
  if (first !== undefined && !originPattern.test(url.slice(0, first.at))) {
    return [`may use references only after the host, not ${positionText(first.at)}`]
  }
  const parsed = parseCallUrl(withPlaceholders(template.success))
  return Result.isFailure(parsed) ? [parsed.failure] : []
}

/** Returns the text with an `x` in place of each reference, so that the rest can be checked. */
export const withPlaceholders = (template: Template): string =>
  template.map((part) => (typeof part === "string" ? part : "x")).join("")

/** The external values that a call uses. */
export interface UsedValues {
  readonly steps: ReadonlySet<string>
  readonly secrets: ReadonlySet<string>
  readonly input: boolean
  readonly task: boolean
}

const noNames: ReadonlySet<string> = new Set()

const setOf = (names: ReadonlyArray<string>): ReadonlySet<string> =>
  names.length === 0 ? noNames : new Set(names)

/** Returns the values that a call uses: those of its references, and the secrets of its `auth`. */
export const valuesUsedByCall = (call: TemplateCall, auth?: CallAuth): UsedValues => {
  const steps: Array<string> = []
  const secrets: Array<string> = auth === undefined ? [] : [...secretsOfAuth(auth)]
  let input = false
  let task = false
  const add = (text: string) => {
    if (!hasBraces(text)) return
    const template = parseTemplate(text)
    if (Result.isFailure(template)) return
    for (const part of template.success) {
      if (typeof part === "string") continue
      if (part.root === "steps") steps.push(part.step)
      else if (part.root === "secrets") secrets.push(part.name)
      else if (part.root === "input") input = true
      else if (part.root === "task") task = true
    }
  }
  add(call.url)
  for (const name in call.headers) add(call.headers[name] ?? "")
  if (call.body !== null) add(call.body)
  return { steps: setOf(steps), secrets: setOf(secrets), input, task }
}

/** Returns the values that a text outside a call uses. */
export const valuesUsedByText = (text: string | null): UsedValues =>
  valuesUsedByCall({ url: "", headers: {}, body: text })

/**
 * The maximum number of references per call. A long text could contain 60,000 of them, which would
 * take 70 ms to parse.
 */
const maxReferences = 2_000

/**
 * Rejects calls with too many references. References in URLs are not counted, because URLs are
 * short.
 */
export const referenceCountProblems = (
  calls: ReadonlyArray<PartialCall>
): ReadonlyArray<FieldProblem> => {
  const count = calls
    .flatMap(({ body, headers = {} }) => [body ?? "", ...Object.values(headers)])
    .reduce((total, text) => total + countOpenings(text ?? ""), 0)
  if (count <= maxReferences) return []
  const problem = `must contain at most ${maxReferences} references in all`
  return [{ path: [], code: "too_many", problem }]
}

interface PartialCall {
  readonly url?: string
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: string | null
}

/**
 * Returns the problems with a call's references. `earlier` contains the names of the steps that the
 * call is allowed to reference. It is null for a task's call.
 */
export const referenceProblems = (
  call: PartialCall,
  earlier: ReadonlySet<string> | null
): ReadonlyArray<FieldProblem> => {
  const headers = Object.entries(call.headers ?? {})
  const texts: ReadonlyArray<readonly [ReadonlyArray<string>, string | null | undefined]> = [
    [["url"], call.url],
    ...headers.map(([name, value]) => [["headers", name], value] as const),
    [["body"], call.body]
  ]
  return texts.flatMap(([path, text]) => {
    if (text == null || !hasBraces(text)) return []
    const template = parseTemplate(text)
    // The URL's own check has already reported that the URL cannot be parsed.
    if (Result.isFailure(template) && path[0] === "url") return []
    return templateProblems(path, template, earlier)
  })
}

/**
 * Returns the problems with the references in a text that a step shows or compares instead of
 * sending. Such a text cannot use secrets.
 */
export const unsentTextProblems = (
  path: ReadonlyArray<string>,
  text: string,
  earlier: ReadonlySet<string>
): ReadonlyArray<FieldProblem> => {
  const template = parseTemplate(text)
  const references = Result.isFailure(template) ? [] : referencesOf(template.success)
  const secret = references.find(({ root }) => root === "secrets")
  return secret === undefined
    ? templateProblems(path, template, earlier)
    : [
        {
          path,
          code: "invalid",
          problem: `must not use a secret, as {{ ${secret.text} }} ${positionText(secret.at)}`
        }
      ]
}

const templateProblems = (
  path: ReadonlyArray<string>,
  template: ReturnType<typeof parseTemplate>,
  earlier: ReadonlySet<string> | null
): ReadonlyArray<FieldProblem> => {
  const problems = Result.isFailure(template)
    ? template.failure
    : referencesOf(template.success)
        .flatMap((one) => (one.root === "steps" ? [one] : []))
        .filter(({ step }) => earlier === null || !earlier.has(step))
        .slice(0, 10)
        .map(
          ({ at, step, text: written }) =>
            `refers to {{ ${written} }} ${positionText(at)}, but ` +
            (earlier === null ? "only a chain has steps" : `no earlier step has the name "${step}"`)
        )
  return problems.map((problem): FieldProblem => ({ path, code: "invalid", problem }))
}

/** Returns the problems with a task's call, or with a change of the call. */
const callProblems = (call: PartialCall): ReadonlyArray<FieldProblem> => {
  const tooMany = referenceCountProblems([call])
  return tooMany.length > 0 ? tooMany : referenceProblems(call, null)
}

/** Checks the references in a task's call. */
export const knownReferencesCheck = Schema.makeFilter<PartialCall>((call) =>
  callProblems(call).map(filterIssue)
)

/**
 * Returns true if the call contains references or an `auth`, which must be resolved before the call
 * is made.
 */
export const needsValues = (call: TemplateCall, auth: CallAuth | undefined): boolean => {
  if (auth !== undefined || hasBraces(call.url)) return true
  if (call.body !== null && hasBraces(call.body)) return true
  for (const name in call.headers) if (hasBraces(call.headers[name] ?? "")) return true
  return false
}
