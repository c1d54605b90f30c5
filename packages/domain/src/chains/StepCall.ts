import { Result, Schema } from "effect"
import { maxUrlLength, parseCallUrl } from "../calls/CallUrl.ts"
import type { FieldProblem } from "../shared/ValidationIssue.ts"
import { countBraces, parseTemplate, place, referencesOf, type Template } from "./Template.ts"

/** The parts of a call that may hold references. */
export interface StepCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/**
 * References may stand in the path, the query and the fragment, but not before them: the answer of
 * one server must not decide which other server gets the headers of the step.
 */
const untilPath = /^https?:\/\/[^/?#\\]+[/?#\\]/i

export const StepUrl = Schema.String.check(
  Schema.makeFilter((url) => stepUrlProblems(url), {
    expected: "an http or https URL",
    toJsonSchema: () => ({ maxLength: maxUrlLength })
  })
).annotate({
  description: "The path and the query may use references to earlier steps.",
  examples: ["https://api.example.com/orders/{{ steps.order.body.id }}"]
})

export const stepUrlProblems = (url: string): ReadonlyArray<string> => {
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

export const withPlaceholders = (template: Template): string =>
  template.map((part) => (typeof part === "string" ? part : "x")).join("")

/** The earlier steps whose answers a call uses, and whether it uses the input of the run. */
export const usedBy = (
  call: StepCall
): { readonly steps: ReadonlySet<string>; readonly input: boolean } => {
  const texts = [call.url, ...Object.values(call.headers), call.body ?? ""]
  const templates = texts.map((text) => Result.getOrElse(parseTemplate(text), () => []))
  const references = templates.flatMap(referencesOf)
  return {
    steps: new Set(references.flatMap((one) => (one.root === "steps" ? [one.step] : []))),
    input: references.some(({ root }) => root === "input")
  }
}

/**
 * An upper bound for the number of references in the steps. References in URLs are not counted, as
 * URLs are short.
 */
export const countReferences = (steps: ReadonlyArray<Partial<StepCall>>): number =>
  steps
    .flatMap(({ body, headers = {} }) => [body ?? "", ...Object.values(headers)])
    .reduce((count, text) => count + countBraces(text), 0)

/** The problems of the references of a step, which may use only the steps named `earlier`. */
export const referenceProblems = (
  call: Partial<StepCall>,
  earlier: ReadonlySet<string>
): ReadonlyArray<FieldProblem> => {
  const headers = Object.entries(call.headers ?? {})
  const texts: ReadonlyArray<readonly [ReadonlyArray<string>, string | null | undefined]> = [
    [["url"], call.url],
    ...headers.map(([name, value]) => [["headers", name], value] as const),
    [["body"], call.body]
  ]
  return texts.flatMap(([path, text]) => {
    const template = parseTemplate(text ?? "")
    const problems = Result.isFailure(template)
      ? template.failure
      : referencesOf(template.success)
          .filter((one) => one.root === "steps")
          .filter(({ step }) => !earlier.has(step))
          .slice(0, 10)
          .map(
            ({ at, step, text }) =>
              `refers to {{ ${text} }} ${place(at)}, but no earlier step has the name "${step}"`
          )
    return problems.map((problem) => ({ path, code: "invalid", problem }))
  })
}
