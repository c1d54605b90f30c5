import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  type ErrorResponse,
  type ErrorResponseDetail,
  PermissionError,
  ServerError
} from "../errors.ts"
import { errorClasses } from "../generated/errors.ts"

/**
 * The code of responses that are not in the service's format, such as a proxy's page or a redirect.
 */
const unexpectedResponse = "unexpected_answer"

type ApiErrorClass = new (answer: ErrorResponse) => ApiError

const classes = new Map<string, ApiErrorClass>(Object.entries(errorClasses))

/** Returns the error class for a code that this version of the SDK does not know. */
const classOf = (status: number): ApiErrorClass =>
  status >= 500 ? ServerError : (byStatus[status] ?? ApiError)

const byStatus: Readonly<Record<number, ApiErrorClass>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  409: ConflictError
}

/** Converts a response whose status is not 2xx to the error class for the code in its body. */
export const toApiError = (response: Response, body: unknown): ApiError => {
  const { headers, status } = response
  const detail = detailOf(body)
  if (detail === undefined) {
    const message = `The response is not from the service: a proxy responded, or baseUrl is wrong`
    return new (classOf(status))({
      status,
      headers,
      detail: { error: unexpectedResponse, message }
    })
  }
  return new (classes.get(detail.error) ?? classOf(status))({ status, headers, detail })
}

const detailOf = (body: unknown): ErrorResponseDetail | undefined => {
  // The token endpoint returns errors according to RFC 6749.
  if (isObject(body) && isText(body.error) && isText(body.error_description)) {
    return { error: body.error, message: body.error_description }
  }
  const detail = isObject(body) ? body.detail : undefined
  return isObject(detail) && isText(detail.error) && isText(detail.message)
    ? (detail as typeof detail & ErrorResponseDetail)
    : undefined
}

const isText = (value: unknown): value is string => typeof value === "string"

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null
