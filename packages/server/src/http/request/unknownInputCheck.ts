import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { issueAt, type ValidationIssue } from "@scheduling/domain/shared/ValidationIssue"
import { Effect } from "effect"
import { HttpMethod, type HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { maxIssues, unknownFieldIssue } from "../answers/validationIssues.ts"

type Request = HttpServerRequest.HttpServerRequest
type Check = (request: Request) => Effect.Effect<void, ValidationFailed> | undefined

/**
 * Rejects input that an endpoint does not declare at all: a query if it has no parameters, or a
 * body if it takes none. If the endpoint declares a query or a body, the framework rejects unknown
 * fields in it. The check returns undefined for nearly every request, because there is nothing to
 * reject and no body to read.
 */
export const unknownInputCheck = ({
  payload,
  query
}: Pick<HttpApiEndpoint.Top, "payload" | "query">): Check | undefined => {
  const checksQuery = query === undefined
  const checksBody = payload.size === 0
  if (!checksQuery && !checksBody) return undefined
  return (request) => {
    const unknown = checksQuery ? unknownParameters(request.url) : none
    if (unknown.length > 0) return refuse(unknown)
    return checksBody && hasBody(request) ? refuseBody(request) : undefined
  }
}

type Issues = ReadonlyArray<ValidationIssue>

const none: Issues = []

const takesNoBody: Issues = [issueAt([], "invalid", "must be empty", "The body")]

const refuse = (issues: Issues) => Effect.fail(new ValidationFailed({ issues }))

const unknownParameters = (url: string): Issues => {
  const start = url.indexOf("?")
  if (start === -1) return none
  const names = new Set(new URLSearchParams(url.slice(start)).keys())
  return [...names]
    .slice(0, maxIssues)
    .map((name) => unknownFieldIssue([name], [], { whole: "The query", part: "parameter" }))
}

const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

/** Rejects every body except an empty one and `{}`, which many clients send with every POST. */
const refuseBody = (request: Request): Effect.Effect<void, ValidationFailed> =>
  HttpMethod.hasBody(request.method)
    ? Effect.flatMap(Effect.orDie(request.text), (text) => {
        const fields = fieldsIn(text)
        if (fields === undefined) return refuse(takesNoBody)
        return fields.length === 0
          ? Effect.void
          : refuse(
              fields
                .slice(0, maxIssues)
                .map((name) => unknownFieldIssue([name], [], { whole: "The body", part: "field" }))
            )
      })
    : refuse(takesNoBody)

/**
 * Returns the names of the fields, or undefined if the text is not a JSON object. An empty text has
 * no fields, because a chunked body may turn out to be empty.
 */
const fieldsIn = (text: string): ReadonlyArray<string> | undefined => {
  try {
    const value: unknown = text === "" ? {} : JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.keys(value)
      : undefined
  } catch {
    return undefined
  }
}
