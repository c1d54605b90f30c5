import { SchedulingError } from "./errors.ts"
import type { TokenPair, WorkspaceId } from "./generated/shared.ts"
import type { Observer } from "./transport/observer.ts"

/** How the client talks to the service, whatever its credential. */
export interface Settings extends Observer {
  /**
   * The address of the service, with or without `/v1` at its end. When absent, `SCHEDULING_URL` or
   * `http://127.0.0.1:4000`.
   */
  readonly baseUrl?: string | undefined
  /** The time limit of one attempt, to the last byte of the answer. 30,000 when absent. */
  readonly timeoutMs?: number | undefined
  /** How often a failed attempt is retried, if that is safe. 2 when absent. */
  readonly maxRetries?: number | undefined
  /** Sent with every request. */
  readonly defaultHeaders?: Readonly<Record<string, string>> | undefined
  /** Replaces the global `fetch`: for a proxy, a test or instrumentation. */
  readonly fetch?: Fetch | undefined
  /**
   * The workspace of calls that do not name one. When absent, `SCHEDULING_WORKSPACE_ID`; if that is
   * not set either, the client finds it with one request.
   */
  readonly workspaceId?: WorkspaceId | undefined
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** An API key of one workspace, for scripts, CI and services. */
export interface ApiKeyCredential {
  /**
   * When the client is given no credential at all, `SCHEDULING_API_KEY` is used. The type allows
   * undefined, because a variable of another name may be unset; the constructor then throws.
   */
  readonly apiKey: string | undefined
  readonly tokens?: undefined
  readonly email?: undefined
  readonly accessToken?: undefined
  readonly clientId?: undefined
}

/** A session that was started before. */
export interface TokensCredential extends SessionListener {
  readonly tokens: Pick<TokenPair, "access_token" | "refresh_token">
  readonly apiKey?: undefined
  readonly email?: undefined
  readonly accessToken?: undefined
  readonly clientId?: undefined
}

/**
 * Access tokens that somebody else keeps: a page whose server holds the refresh token, or a secret
 * store.
 */
export interface AccessTokenCredential {
  /**
   * Called before each request that needs a credential. `refused` is the token that the service has
   * just refused: give another one, or undefined if there is none.
   */
  readonly accessToken: (refused: string | undefined) => Promise<string | undefined>
  readonly apiKey?: undefined
  readonly tokens?: undefined
  readonly email?: undefined
  readonly clientId?: undefined
}

/** A service account. The client gets an access token with the first call and renews it by itself. */
export interface ServiceAccountCredential {
  readonly clientId: string
  readonly clientSecret: string
  readonly apiKey?: undefined
  readonly tokens?: undefined
  readonly email?: undefined
  readonly accessToken?: undefined
}

/** Logs in at the first call, and again when the session has ended. */
export interface PasswordCredential extends SessionListener {
  readonly email: string
  readonly password: string
  readonly apiKey?: undefined
  readonly tokens?: undefined
  readonly accessToken?: undefined
  readonly clientId?: undefined
}

/** The key in `SCHEDULING_API_KEY`, or none for calls that need no credential. */
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
   * Called with each new pair, and with undefined once the session has ended. Keep the pair: a
   * refresh token works once. Calls that wait for the pair also wait for the returned promise.
   */
  readonly onTokens?: ((tokens: TokenPair | undefined) => void | Promise<void>) | undefined
}

/** The settings of one call, as the last argument of every method. */
export interface RequestOptions {
  /** Ends the call, its retries and its waits. The call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly maxRetries?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface InWorkspace {
  /** A workspace other than the client's. */
  readonly workspaceId?: WorkspaceId | undefined
}

export interface Idempotent {
  /**
   * For 24 hours, the same key with the same request gets the first answer again. When absent, the
   * client makes a key for each call, so that its retries do not repeat the work.
   */
  readonly idempotencyKey?: string | undefined
}

export interface Versioned {
  /** The version that you have read. If the record has another one by now, the call throws `Stale`. */
  readonly version?: number | undefined
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** The arguments of `client.request` besides method and path. */
export interface RawRequest extends RequestOptions, InWorkspace, Idempotent {
  /** Undefined fields are not sent. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
  /** Sent as JSON. */
  readonly body?: object | undefined
}

/** The given settings, checked. */
export interface RequestLimits {
  readonly timeoutMs: number
  readonly maxRetries: number
}

export const limits = (
  given: Pick<RequestOptions, keyof RequestLimits>,
  fallback: RequestLimits
): RequestLimits => ({
  // Timers hold 31 bits of milliseconds. With more they fire at once.
  timeoutMs: whole("timeoutMs", given.timeoutMs ?? fallback.timeoutMs, 1, 2 ** 31 - 1),
  maxRetries: whole("maxRetries", given.maxRetries ?? fallback.maxRetries, 0, 100)
})

export const whole = (name: string, value: number, minimum: number, maximum: number): number => {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value
  throw new SchedulingError(`${name} must be a whole number from ${minimum} to ${maximum}`)
}

/**
 * The address without slashes or `/v1` at its end, because the paths of the contract begin with
 * them.
 */
export const parseBaseUrl = (text: string): string => {
  if (!URL.canParse(text)) throw new SchedulingError(`baseUrl is not a URL: ${text}`)
  const { hash, href, password, protocol, search, username } = new URL(text)
  if (protocol !== "http:" && protocol !== "https:") {
    throw new SchedulingError("baseUrl must start with http:// or https://")
  }
  if (username + password + search + hash !== "") {
    throw new SchedulingError("baseUrl must hold no password, query or fragment")
  }
  return href.replace(/\/+$/, "").replace(/\/+v1$/, "")
}

const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/
const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/**
 * Headers that the client sets itself. A second value would silently replace the client's, or be
 * joined with it.
 */
const ownHeaders: ReadonlyMap<string, string> = new Map([
  ["authorization", "give the client a credential"],
  ["content-type", "bodies are JSON"],
  ["idempotency-key", "use the option idempotencyKey"]
])

/** Refuses headers that would not be sent as given. The message never contains a value. */
export const checkHeaders = (
  headers: Readonly<Record<string, string>> = {}
): Readonly<Record<string, string>> => {
  for (const [name, value] of Object.entries(headers)) {
    if (!fieldName.test(name)) throw new SchedulingError("A header has a name that is not valid")
    const own = ownHeaders.get(name.toLowerCase())
    if (own !== undefined) throw new SchedulingError(`The header ${name} cannot be set: ${own}`)
    if (!fieldValue.test(value)) {
      throw new SchedulingError(`The header ${name} holds characters that no header can`)
    }
  }
  return headers
}

/** Checks a credential or a key: visible ASCII, as it goes into a header. It is never shown. */
export const visibleAscii = (name: string, value: string | undefined, maxLength = 8192): string => {
  if (value === undefined || value === "") {
    throw new SchedulingError(`${name} is ${value === undefined ? "undefined" : "empty"}`)
  }
  if (value.length <= maxLength && /^[\x21-\x7e]+$/.test(value)) return value
  throw new SchedulingError(
    `${name} must be visible ASCII without spaces, at most ${maxLength} characters`
  )
}
