import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  type ErrorAnswer,
  type ErrorDetail,
  PermissionError,
  ServerError
} from "../errors.ts"
import { errorClasses } from "../generated/errors.ts"

/**
 * The code of answers that are not in the service's shape, such as a proxy's page or a redirect.
 */
const unexpectedAnswer = "unexpected_answer"

type Make = new (answer: ErrorAnswer) => ApiError

const classes = new Map<string, Make>(Object.entries(errorClasses))

/** The class of a code that this version does not know. */
const classOf = (status: number): Make =>
  status >= 500 ? ServerError : (byStatus[status] ?? ApiError)

const byStatus: Readonly<Record<number, Make>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  409: ConflictError
}

/** The error of an answer whose status is not 200 to 299, by its code. */
export const toApiError = (response: Response, body: unknown): ApiError => {
  const { headers, status } = response
  const detail = detailOf(body)
  if (detail === undefined) {
    const message = `The answer is not from the service: a proxy answered, or baseUrl is wrong`
    return new (classOf(status))({ status, headers, detail: { error: unexpectedAnswer, message } })
  }
  return new (classes.get(detail.error) ?? classOf(status))({ status, headers, detail })
}

const detailOf = (body: unknown): ErrorDetail | undefined => {
  // The token endpoint has the errors of RFC 6749.
  if (isObject(body) && isText(body.error) && isText(body.error_description)) {
    return { error: body.error, message: body.error_description }
  }
  const detail = isObject(body) ? body.detail : undefined
  return isObject(detail) && isText(detail.error) && isText(detail.message)
    ? (detail as typeof detail & ErrorDetail)
    : undefined
}

const isText = (value: unknown): value is string => typeof value === "string"

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null
