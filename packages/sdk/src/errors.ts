/** Everything that the client throws, except the reason of an `AbortSignal`, which is yours. */
export class SchedulingError extends Error {
  override readonly name: string = "SchedulingError"

  /** What a log that writes JSON keeps of it; of a plain error it would keep nothing. */
  toJSON(): Readonly<Record<string, unknown>> {
    return { name: this.name, message: this.message }
  }
}

/** The call needs a credential, and the client has none. Nothing was sent. */
export class NoCredentialError extends SchedulingError {
  override readonly name: string = "NoCredentialError"

  constructor(call: string, remedy: string) {
    super(`${call} needs a credential: ${remedy}`)
  }
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
  /** The logs of the service know the request by it. */
  readonly requestId: string | undefined
  declare readonly headers: Headers

  constructor(answer: ErrorAnswer<Detail>) {
    super(messageOf(answer.detail))
    this.status = answer.status
    this.requestId = answer.headers.get("x-request-id") ?? undefined
    this.detail = answer.detail
    // Not shown where the error is: twenty lines that say less than the four fields above.
    Object.defineProperty(this, "headers", { value: answer.headers })
  }

  get code(): Detail["error"] {
    return this.detail.error
  }

  override toJSON(): Readonly<Record<string, unknown>> {
    const { code, detail, requestId, status } = this
    return { ...super.toJSON(), status, code, requestId, detail }
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

/** It had not ended within the `timeoutMs` of a wait. It goes on, and can be waited for again. */
export class WaitTimeoutError extends SchedulingError {
  override readonly name: string = "WaitTimeoutError"
  /** Of the execution or the run of a chain. */
  readonly id: string

  constructor(id: string, timeoutMs: number) {
    super(`${id} had not ended within ${timeoutMs} ms; it goes on`)
    this.id = id
  }
}
