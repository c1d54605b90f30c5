/** Everything that the client throws, except the reason of an `AbortSignal`, which is yours. */
export class SchedulingError extends Error {
  override readonly name: string = "SchedulingError"
}

/** What the service says of a failure: `detail` of its one error shape. */
export interface ErrorDetail {
  readonly error: string
  readonly message: string
}

export interface ErrorAnswer<Detail extends ErrorDetail = ErrorDetail> {
  readonly status: number
  readonly detail: Detail
  readonly headers: Headers
}

/** The service answered, with a failure. Each code it knows has a class of its own. */
export class ApiError<Detail extends ErrorDetail = ErrorDetail> extends SchedulingError {
  override readonly name: string = "ApiError"
  readonly status: number
  readonly detail: Detail
  readonly headers: Headers

  constructor(answer: ErrorAnswer<Detail>) {
    super(messageOf(answer.detail))
    this.status = answer.status
    this.detail = answer.detail
    this.headers = answer.headers
  }

  get code(): Detail["error"] {
    return this.detail.error
  }

  /** The logs of the service know the request by it. */
  get requestId(): string | undefined {
    return this.headers.get("x-request-id") ?? undefined
  }
}

/** What was wrong with a request belongs into the line that people see in their logs. */
const messageOf = (detail: ErrorDetail & { readonly issues?: unknown }): string => {
  if (!Array.isArray(detail.issues)) return detail.message
  const issues = detail.issues.map((issue: Issue) => `${issue.path.join(".")}: ${issue.message}`)
  return `${detail.message} ${issues.join("; ")}`
}

interface Issue {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

/** No answer: the service was not reached, or the connection broke. */
export class ConnectionError extends SchedulingError {
  override readonly name: string = "ConnectionError"
}

/** No whole answer within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = "TimeoutError"
}
