import { SchedulingError } from "./errors.ts"
import type { TokenPair, WorkspaceId } from "./generated/shared.ts"
import type { Observer } from "./transport/observer.ts"

/** Settings of the client that do not depend on the credential. */
export interface Settings extends Observer {
  /**
   * The URL of the service, with or without `/v1` at its end. Defaults to `SCHEDULING_URL`, or else
   * `http://127.0.0.1:4000`.
   */
  readonly baseUrl?: string | undefined
  /** The time limit of one attempt, to the last byte of the response. Defaults to 30,000. */
  readonly timeoutMs?: number | undefined
  /** The maximum number of retries of a failed attempt that is safe to retry. Defaults to 2. */
  readonly maxRetries?: number | undefined
  /** Headers to send with every request. */
  readonly defaultHeaders?: Readonly<Record<string, string>> | undefined
  /** Replaces the global `fetch`, for example for a proxy, a test or instrumentation. */
  readonly fetch?: Fetch | undefined
  /**
   * The workspace for calls that do not specify one. Defaults to `SCHEDULING_WORKSPACE_ID`. If
   * neither is set, the client finds the workspace with one request.
   */
  readonly workspaceId?: WorkspaceId | undefined
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** An API key of one workspace, for scripts, CI and services. */
export interface ApiKeyCredential {
  /**
   * Without any credential, the client uses `SCHEDULING_API_KEY`. The type allows undefined,
   * because the key may come from another environment variable; if that is unset, the constructor
   * throws.
   */
  readonly apiKey: string | undefined
  readonly tokens?: undefined
  readonly email?: undefined
  readonly accessToken?: undefined
  readonly clientId?: undefined
}

/** The tokens of an existing session. */
export interface TokensCredential extends SessionListener {
  readonly tokens: Pick<TokenPair, "access_token" | "refresh_token">
  readonly apiKey?: undefined
  readonly email?: undefined
  readonly accessToken?: undefined
  readonly clientId?: undefined
}

/**
 * Access tokens that are managed elsewhere, for example by a server that holds the refresh token,
 * or by a secret store.
 */
export interface AccessTokenCredential {
  /**
   * Called before each request that needs a credential. `rejected` is the token that the service has
   * just rejected: return another token, or undefined if there is none.
   */
  readonly accessToken: (rejected: string | undefined) => Promise<string | undefined>
  readonly apiKey?: undefined
  readonly tokens?: undefined
  readonly email?: undefined
  readonly clientId?: undefined
}

/**
 * A service account. The client requests an access token at the first call and renews it
 * automatically.
 */
export interface ServiceAccountCredential {
  readonly clientId: string
  readonly clientSecret: string
  readonly apiKey?: undefined
  readonly tokens?: undefined
  readonly email?: undefined
  readonly accessToken?: undefined
}

/** Logs in at the first call, and again after the session has ended. */
export interface PasswordCredential extends SessionListener {
  readonly email: string
  readonly password: string
  readonly apiKey?: undefined
  readonly tokens?: undefined
  readonly accessToken?: undefined
  readonly clientId?: undefined
}

/** Uses the key in `SCHEDULING_API_KEY`, or none for calls that need no credential. */
export interface NoCredential {
  readonly apiKey?: undefined
  readonly tokens?: undefined
  readonly email?: undefined
  readonly accessToken?: undefined
  readonly clientId?: undefined
}

export type Credential =
  | ApiKeyCredential
  | TokensCredential
  | AccessTokenCredential
  | ServiceAccountCredential
  | PasswordCredential
  | NoCredential

export interface SessionListener {
  /**
   * Called with each new token pair, and with undefined once the session has ended. Store the pair:
   * a refresh token works once. Calls that wait for the pair also wait for the returned promise.
   */
  readonly onTokens?: ((tokens: TokenPair | undefined) => void | Promise<void>) | undefined
}

/** The settings of one call; the last argument of every method. */
export interface RequestOptions {
  /** Aborts the call, including retries and delays. The call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly maxRetries?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface InWorkspace {
  /** The workspace of this call. Defaults to the client's workspace. */
  readonly workspaceId?: WorkspaceId | undefined
}

export interface Idempotent {
  /**
   * Within 24 hours, the same key with the same request returns the first response again. By
   * default, the client generates a key per call, so that retries do not repeat the work.
   */
  readonly idempotencyKey?: string | undefined
}

export interface Versioned {
  /** The version that you read. If the record has changed since, the call throws `StaleError`. */
  readonly version?: number | undefined
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** The arguments of `client.request` after method and path. */
export interface RawRequest extends RequestOptions, InWorkspace, Idempotent {
  /** Query parameters. Undefined fields are not sent. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
  /** The body, which is sent as JSON. */
  readonly body?: object | undefined
}

/** Validated limits of a request. */
export interface RequestLimits {
  readonly timeoutMs: number
  readonly maxRetries: number
}

export const requestLimits = (
  given: Pick<RequestOptions, keyof RequestLimits>,
  fallback: RequestLimits
): RequestLimits => ({
  // Timers accept at most 2^31 - 1 milliseconds. A timer with a longer delay would fire
  // immediately.
  timeoutMs: checkWholeNumber("timeoutMs", given.timeoutMs ?? fallback.timeoutMs, 1, 2 ** 31 - 1),
  maxRetries: checkWholeNumber("maxRetries", given.maxRetries ?? fallback.maxRetries, 0, 100)
})

export const checkWholeNumber = (
  name: string,
  value: number,
  minimum: number,
  maximum: number
): number => {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value
  throw new SchedulingError(`${name} must be a whole number from ${minimum} to ${maximum}`)
}

/**
 * Removes trailing slashes and `/v1` from the URL, because the paths of the contract begin with
 * `/v1`.
 */
export const parseBaseUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new SchedulingError(`baseUrl must be a URL with http:// or https://, not ${text}`)
  }
  const { hash, href, password, search, username } = url
  if (username + password + search + hash !== "") {
    throw new SchedulingError("baseUrl must not contain a password, query or fragment")
  }
  return href.replace(/\/+$/, "").replace(/\/+v1$/, "")
}

const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/
const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/**
 * The headers that the client sets itself, and why a caller must not set them. A second value would
 * silently replace the client's value or be appended to it.
 */
const reservedHeaders: ReadonlyMap<string, string> = new Map([
  ["authorization", "pass a credential to the client"],
  ["content-type", "bodies are JSON"],
  ["idempotency-key", "use the option idempotencyKey"]
])

/** Rejects headers that would not be sent as given. The error message never contains a value. */
export const checkHeaders = (
  headers: Readonly<Record<string, string>> = {}
): Readonly<Record<string, string>> => {
  for (const [name, value] of Object.entries(headers)) {
    if (!fieldName.test(name)) throw new SchedulingError("A header name is not valid")
    const own = reservedHeaders.get(name.toLowerCase())
    if (own !== undefined) throw new SchedulingError(`The header ${name} cannot be set: ${own}`)
    if (!fieldValue.test(value)) {
      throw new SchedulingError(
        `The header ${name} contains characters that are not allowed in headers`
      )
    }
  }
  return headers
}

/**
 * Checks that a credential or key is visible ASCII, because it is sent in a header. The error
 * message never contains the value.
 */
export const checkVisibleAscii = (
  name: string,
  value: string | undefined,
  maxLength = 8192
): string => {
  if (value === undefined || value === "") {
    throw new SchedulingError(`${name} is ${value === undefined ? "undefined" : "empty"}`)
  }
  if (value.length <= maxLength && /^[\x21-\x7e]+$/.test(value)) return value
  throw new SchedulingError(
    `${name} must be visible ASCII without spaces, at most ${maxLength} characters`
  )
}
