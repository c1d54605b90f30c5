import { ApiError, type ErrorAnswer, type ErrorDetail } from "../errors.ts"
import { errorClasses } from "../generated/errors.ts"

/**
 * The code of answers that are not in the service's shape, such as a proxy's page or a redirect.
 */
const unexpectedAnswer = "unexpected_answer"

type Make = new (answer: ErrorAnswer<never>) => ApiError

const classes = new Map<string, Make>(Object.entries(errorClasses))

/** The error of an answer whose status is not 200 to 299, by its code. */
export const toApiError = (response: Response, body: unknown): ApiError => {
  const { headers, status } = response
  const detail = detailOf(body)
  if (detail === undefined) {
    const message = `What answered with ${status} is not the service: a proxy, or baseUrl is wrong`
    return new ApiError({ status, headers, detail: { error: unexpectedAnswer, message } })
  }
  return new (classes.get(detail.error) ?? ApiError)({ status, headers, detail } as never)
}

const detailOf = (body: unknown): ErrorDetail | undefined => {
  const detail = isObject(body) ? body.detail : undefined
  return isObject(detail) && typeof detail.error === "string" && typeof detail.message === "string"
    ? (detail as typeof detail & ErrorDetail)
    : undefined
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null
