/**
 * The places where this service depends on the inside of a library: on behaviour that neither its
 * types nor its documentation promise. Each place has a test in `test/seams.test.ts`, which fails
 * if an upgrade changes that behaviour. Seen on effect 4.1.0, @effect/platform-node 4.1.0 and Node
 * 24.21. What depends on PGlite is in `sql/embedded`: `DurableFs.ts` wraps its file system,
 * `Session.ts` its engine.
 */
import type { Config, SchemaIssue } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Server } from "node:http"
import { setFlagsFromString } from "node:v8"

/** The framework reports JSON that cannot be parsed as an issue with this message and no cause. */
export const isMalformedJson = (issue: SchemaIssue.Issue): boolean =>
  issue._tag === "InvalidValue" && issue.annotations?.message === "Expected a valid JSON body"

/**
 * `Expected "open" | "closed"\n  at ["REGISTRATION"]` → `REGISTRATION: expected "open" | "closed"`.
 * The error names the variable in its message only. What a source says itself, such as
 * `SourceError: APP_SECRET_FILE: …`, names it already.
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
 * The framework decodes a JSON body from `text`. Only an object with the request as its prototype
 * can replace that.
 */
export const withText = (
  request: HttpServerRequest.HttpServerRequest,
  text: HttpServerRequest.HttpServerRequest["text"]
): HttpServerRequest.HttpServerRequest => Object.create(request, { text: { value: text } })

/**
 * The framework adds a listener of its own, which would answer every upgrade as one of a WebSocket.
 */
export const refuseFurtherUpgradeListeners = (server: Server): void => {
  server.on("newListener", (event, listener) => {
    if (event === "upgrade") process.nextTick(() => server.off("upgrade", listener))
  })
}

/**
 * Makes a function that turns arrays of values into objects with these fields. Written as one
 * literal, an object of 24 fields takes a tenth of the time and memory that adding the fields
 * takes.
 */
export const objectMaker = <A>(fields: ReadonlyArray<string>): ((values: Values) => A) => {
  const literal = fields.map((field, index) => `${JSON.stringify(field)}: values[${index}]`)
  try {
    return new Function("values", `return { ${literal.join(", ")} }`) as (values: Values) => A
  } catch (error) {
    // Some environments forbid code generation.
    if (!(error instanceof EvalError)) throw error
    return (values) => Object.fromEntries(fields.map((field, index) => [field, values[index]])) as A
  }
}

type Values = ReadonlyArray<unknown>

/**
 * Objects of requests that wait for the database survive a collection. V8 would conclude that such
 * objects live long and allocate the next ones as old. Collecting them took a quarter of a list's
 * processor time.
 */
export const keepNewObjectsYoung = () => setFlagsFromString("--no-allocation-site-pretenuring")
