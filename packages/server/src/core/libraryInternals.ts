/**
 * Code that depends on undocumented behaviour of libraries. Each part has a test in
 * `test/core/libraryInternals.test.ts`, which fails if an upgrade changes the behaviour. Checked
 * with effect 4.1.0, @effect/platform-node 4.1.0 and Node 24.21. `store/embedded` depends on PGlite
 * in the same way: `DurableFs.ts` wraps its file system, `Session.ts` its engine.
 */
import type { Config, SchemaIssue } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Server } from "node:http"
import { setFlagsFromString } from "node:v8"

/** The framework reports malformed JSON as an issue with this message and no cause. */
export const isMalformedJson = (issue: SchemaIssue.Issue): boolean =>
  issue._tag === "InvalidValue" && issue.annotations?.message === "Expected a valid JSON body"

/**
 * Formats a config error: `Expected "open" | "closed"\n  at ["REGISTRATION"]` → `REGISTRATION:
 * expected "open" | "closed"`. The error contains the variable only in its message. Messages of our
 * own sources, such as `SourceError: APP_SECRET_FILE: …`, contain it already.
 */
export const explainConfigError = (error: Config.ConfigError): string => {
  const text = error.message
    .replace(/^SchemaError\(([\s\S]*)\)$/, "$1")
    .replace(/^SourceError: /, "")
  const [, problem = text, variable] = /^([\s\S]*?)\s+at \["([A-Z_]+)"\]/.exec(text) ?? []
  return variable === undefined
    ? problem
    : `${variable}: ${problem.charAt(0).toLowerCase()}${problem.slice(1)}`
}

/**
 * Replaces the text of a request. The framework decodes a JSON body from `text`, which can only be
 * replaced by an object with the request as its prototype.
 */
export const withText = (
  request: HttpServerRequest.HttpServerRequest,
  text: HttpServerRequest.HttpServerRequest["text"]
): HttpServerRequest.HttpServerRequest => Object.create(request, { text: { value: text } })

/** Removes the framework's listener, which would handle every upgrade as a WebSocket. */
export const rejectFurtherUpgradeListeners = (server: Server): void => {
  server.on("newListener", (event, listener) => {
    if (event === "upgrade") process.nextTick(() => server.off("upgrade", listener))
  })
}

/**
 * Returns a function that turns arrays of values into objects with these fields. A single object
 * literal with 24 fields takes a tenth of the time and memory of adding the fields one by one.
 */
export const objectMaker = <A>(fields: ReadonlyArray<string>): ((values: Values) => A) => {
  const literal = fields.map((field, index) => `${JSON.stringify(field)}: from[${index}]`)
  return literalMaker(
    literal,
    (values: Values) =>
      Object.fromEntries(fields.map((field, index) => [field, values[index]])) as A
  )
}

/**
 * Returns a function that copies these fields of objects and adds `others`, which are the same in
 * each copy. Uses one object literal like `objectMaker`.
 */
export const fieldsCopier = <A extends object>(
  fields: ReadonlyArray<string>,
  others: Readonly<Record<string, unknown>> = {}
): ((from: object) => A) => {
  const names = fields.map((field) => JSON.stringify(field))
  const copy = literalMaker(
    [
      ...names.map((name) => `${name}: from.row[${name}]`),
      ...Object.keys(others).map(
        (name) => `${JSON.stringify(name)}: from.others[${JSON.stringify(name)}]`
      )
    ],
    ({ row }: Copied) =>
      ({
        ...Object.fromEntries(fields.map((field) => [field, row[field]])),
        ...others
      }) as A
  )
  return (from) => copy({ row: from as Readonly<Record<string, unknown>>, others })
}

interface Copied {
  readonly row: Readonly<Record<string, unknown>>
  readonly others: Readonly<Record<string, unknown>>
}

const literalMaker = <From, A>(
  literal: ReadonlyArray<string>,
  otherwise: (from: From) => A
): ((from: From) => A) => {
  try {
    return new Function("from", `return { ${literal.join(", ")} }`) as (from: From) => A
  } catch (error) {
    // Some environments forbid code generation.
    if (!(error instanceof EvalError)) throw error
    return otherwise
  }
}

type Values = ReadonlyArray<unknown>

/**
 * Prevents V8 from allocating new objects in the old generation. Objects of requests that wait for
 * the database survive a collection, so V8 would expect such objects to live long. That cost a
 * quarter of the CPU time of a list.
 */
export const keepNewObjectsYoung = () => setFlagsFromString("--no-allocation-site-pretenuring")
