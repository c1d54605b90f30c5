/** Everything that the client throws, except the reason of an `AbortSignal`, which is yours. */
export class SchedulingError extends Error {
  override readonly name: string = "SchedulingError"

  /** The fields that JSON logs keep. Of a plain error they keep nothing. */
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

/** The failure as the service reports it: the `detail` of its one error shape. */
export interface ErrorDetail {
  readonly error: string
  readonly message: string
}

export interface ErrorAnswer<Detail extends ErrorDetail = ErrorDetail> {
  readonly status: number
  readonly detail: Detail
  readonly headers: Headers
}

/** The service answered with a failure. Each code has a class of its own. */
export class ApiError<Detail extends ErrorDetail = ErrorDetail> extends SchedulingError {
  override readonly name: string = "ApiError"
  readonly status: number
  readonly detail: Detail
  /** Identifies the request in the logs of the service. */
  readonly requestId: string | undefined
  declare readonly headers: Headers

  constructor(answer: ErrorAnswer<Detail>) {
    super(messageOf(answer.detail))
    this.status = answer.status
    this.requestId = answer.headers.get("x-request-id") ?? undefined
    this.detail = answer.detail
    // Not enumerable, so that a logged error does not show twenty lines that say less than the four
    // fields above.
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

/** The issues of a request belong in the line that people see in their logs. */
const messageOf = (detail: ErrorDetail & { readonly issues?: unknown }): string => {
  if (!Array.isArray(detail.issues)) return detail.message
  const issues = detail.issues.map(({ message }: { readonly message: string }) => message)
  return [detail.message, ...issues].join(" ")
}

/** There was no answer: the service was not reached, or the connection broke. */
export class ConnectionError extends SchedulingError {
  override readonly name: string = "ConnectionError"
}

/** There was no complete answer within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = "TimeoutError"
}

/** It had not ended within the `timeoutMs` of a wait. It goes on and can be waited for again. */
export class WaitTimeoutError extends SchedulingError {
  override readonly name: string = "WaitTimeoutError"
  /** The id of the execution or of the chain's run. */
  readonly id: string

  constructor(id: string, timeoutMs: number) {
    super(`${id} had not ended within ${timeoutMs} ms; it goes on`)
    this.id = id
  }
}
