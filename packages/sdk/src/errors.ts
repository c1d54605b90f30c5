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

export interface ErrorAnswer {
  readonly status: number
  readonly detail: ErrorDetail
  readonly headers: Headers
}

/**
 * The service answered with a failure. Each code has a class of its own, which extends the class of
 * its status if several codes share that.
 */
export class ApiError extends SchedulingError {
  override readonly name: string = "ApiError"
  readonly status: number
  /** The code of the failure, for programs. It is stable. */
  readonly code: string
  readonly detail: ErrorDetail
  /** The message without the status, to be shown to people. */
  declare readonly reason: string
  /** Identifies the request in the logs of the service. */
  readonly requestId: string | undefined
  declare readonly headers: Headers

  constructor({ detail, headers, status }: ErrorAnswer) {
    const reason = reasonOf(detail)
    super(`${status} ${reason}`)
    this.status = status
    this.code = detail.error
    this.requestId = headers.get("x-request-id") ?? undefined
    this.detail = detail
    // Not enumerable, so that a logged error does not show twenty lines that say less than the
    // fields above, and no text twice.
    Object.defineProperties(this, { headers: { value: headers }, reason: { value: reason } })
  }

  override toJSON(): Readonly<Record<string, unknown>> {
    const { code, detail, requestId, status } = this
    return { ...super.toJSON(), status, code, requestId, detail }
  }
}

/** 400: the request is malformed. */
export class BadRequestError extends ApiError {
  override readonly name: string = "BadRequestError"
}

/** 401: the credential is missing, not valid or expired. */
export class AuthenticationError extends ApiError {
  override readonly name: string = "AuthenticationError"
}

/** 403: the credential does not allow this. */
export class PermissionError extends ApiError {
  override readonly name: string = "PermissionError"
}

/** 409: the state of something does not allow this. */
export class ConflictError extends ApiError {
  override readonly name: string = "ConflictError"
}

/** 500 and above: the service, or a proxy before it, failed. */
export class ServerError extends ApiError {
  override readonly name: string = "ServerError"
}

/** The issues of a request belong in the line that people see in their logs. */
const reasonOf = (detail: ErrorDetail & { readonly issues?: unknown }): string => {
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

/** The run had not finished within the `timeoutMs` of a wait. It goes on, and can be waited for again. */
export class WaitTimeoutError extends SchedulingError {
  override readonly name: string = "WaitTimeoutError"
  /** The id of the execution or of the chain run. */
  readonly id: string

  constructor(id: string, timeoutMs: number) {
    super(`${id} had not finished within ${timeoutMs} ms; it goes on`)
    this.id = id
  }
}
