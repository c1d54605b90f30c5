/** Base class of all errors that the client throws, except your own `AbortSignal`'s reason. */
export class SchedulingError extends Error {
  override readonly name: string = "SchedulingError"

  /** Returns the fields for JSON logs, which would otherwise omit an error's message and name. */
  toJSON(): Readonly<Record<string, unknown>> {
    return { name: this.name, message: this.message }
  }
}

/** The call needs a credential, but the client has none. No request was sent. */
export class NoCredentialError extends SchedulingError {
  override readonly name: string = "NoCredentialError"

  constructor(call: string, remedy: string) {
    super(`${call} needs a credential: ${remedy}`)
  }
}

/** The `detail` of an error response. */
export interface ErrorResponseDetail {
  readonly error: string
  readonly message: string
}

export interface ErrorResponse {
  readonly status: number
  readonly detail: ErrorResponseDetail
  readonly headers: Headers
}

/**
 * An error response of the service. Each code has a class, which extends the class of its status if
 * several codes share the status.
 */
export class ApiError extends SchedulingError {
  override readonly name: string = "ApiError"
  readonly status: number
  /** A stable, machine-readable error code. */
  readonly code: string
  readonly detail: ErrorResponseDetail
  /** The message without the status, for display. */
  declare readonly reason: string
  /** Identifies the request in the service's logs. */
  readonly requestId: string | undefined
  declare readonly headers: Headers

  constructor({ detail, headers, status }: ErrorResponse) {
    const reason = reasonOf(detail)
    super(`${status} ${reason}`)
    this.status = status
    this.code = detail.error
    this.requestId = headers.get("x-request-id") ?? undefined
    this.detail = detail
    // Not enumerable, so that a logged error does not show twenty lines of headers or the message
    // twice.
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

/** 409: the state of a resource does not allow the request. */
export class ConflictError extends ApiError {
  override readonly name: string = "ConflictError"
}

/** 500 and above: the service, or a proxy in front of it, failed. */
export class ServerError extends ApiError {
  override readonly name: string = "ServerError"
}

/** Appends a request's issues to the message, so that they appear in logs. */
const reasonOf = (detail: ErrorResponseDetail & { readonly issues?: unknown }): string => {
  if (!Array.isArray(detail.issues)) return detail.message
  const issues = detail.issues.map(({ message }: { readonly message: string }) => message)
  return [detail.message, ...issues].join(" ")
}

/** No response: the service could not be reached, or the connection broke. */
export class ConnectionError extends SchedulingError {
  override readonly name: string = "ConnectionError"
}

/** No complete response within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = "TimeoutError"
}

/** The run did not finish within `timeoutMs`. The run continues, and you can wait for it again. */
export class WaitTimeoutError extends SchedulingError {
  override readonly name: string = "WaitTimeoutError"
  /** The id of the execution or of the chain run. */
  readonly id: string

  constructor(id: string, timeoutMs: number) {
    super(`${id} had not finished within ${timeoutMs} ms; the run continues`)
    this.id = id
  }
}
