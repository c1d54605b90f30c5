import { SchedulingError } from "./errors.ts"
import type { TokenPair, WorkspaceId } from "./generated/types.ts"
import type { Observer } from "./observer.ts"

/** How the client talks to the service, whoever it is. */
export interface Settings extends Observer {
  /**
   * Where the service is, with or without `/v1` at its end. `SCHEDULING_URL` when absent, or
   * `http://127.0.0.1:4000`.
   */
  readonly baseUrl?: string | undefined
  /** How long one attempt may take, to the last byte of the answer. 30,000 when absent. */
  readonly timeoutMs?: number | undefined
  /** How often a failed attempt is made again where that is safe. 2 when absent. */
  readonly maxRetries?: number | undefined
  /** Sent with every request. */
  readonly defaultHeaders?: Readonly<Record<string, string>> | undefined
  /** In place of the global `fetch`: for a proxy, a test, instrumentation. */
  readonly fetch?: Fetch | undefined
  /**
   * The workspace of calls that do not name one. `SCHEDULING_WORKSPACE_ID` when absent; found with
   * one request where that is not set either.
   */
  readonly workspaceId?: WorkspaceId | undefined
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** A key of one workspace: for scripts, CI and services. */
export interface ApiKeyCredential {
  /**
   * `SCHEDULING_API_KEY` where the client is given no credential at all. May be undefined, as a
   * variable of another name may; then the constructor throws.
   */
  readonly apiKey: string | undefined
  readonly tokens?: undefined
  readonly email?: undefined
}

/** A session that was started before. */
export interface TokensCredential extends SessionListener {
  readonly tokens: Pick<TokenPair, "access_token" | "refresh_token">
  readonly apiKey?: undefined
  readonly email?: undefined
}

/** Logs in with the first call, and again when the session has ended. */
export interface PasswordCredential extends SessionListener {
  readonly email: string
  readonly password: string
  readonly apiKey?: undefined
  readonly tokens?: undefined
}

/** The key in `SCHEDULING_API_KEY`, or none: for what needs no credential. */
export interface NoCredential {
  readonly apiKey?: undefined
  readonly tokens?: undefined
  readonly email?: undefined
}

export type Credential = ApiKeyCredential | TokensCredential | PasswordCredential | NoCredential

export interface SessionListener {
  /**
   * Called with each new pair, and with undefined once the session has ended. Keep the pair: a
   * refresh token works once. Calls that wait for the pair wait for the promise too.
   */
  readonly onTokens?: ((tokens: TokenPair | undefined) => void | Promise<void>) | undefined
}

/** What one call may change, as the last argument of every method. */
export interface RequestOptions {
  /** Ends the call, its retries and its waits; the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly maxRetries?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface InWorkspace {
  /** Another workspace than the client's. */
  readonly workspaceId?: WorkspaceId | undefined
}

export interface Idempotent {
  /**
   * The same key with the same request gets the first answer again, for 24 hours. The client makes
   * one for each call when absent, so that its retries do no work twice.
   */
  readonly idempotencyKey?: string | undefined
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** What `client.request` takes beside method and path. */
export interface RawRequest extends RequestOptions, InWorkspace, Idempotent {
  /** Fields that are undefined are not sent. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
  /** Sent as JSON. */
  readonly body?: object | undefined
}

/** What a caller set, checked. */
export interface Limits {
  readonly timeoutMs: number
  readonly maxRetries: number
}

export const limits = (given: Pick<RequestOptions, keyof Limits>, fallback: Limits): Limits => ({
  // Timers hold 31 bits of milliseconds and fire at once beyond them.
  timeoutMs: whole("timeoutMs", given.timeoutMs ?? fallback.timeoutMs, 1, 2 ** 31 - 1),
  maxRetries: whole("maxRetries", given.maxRetries ?? fallback.maxRetries, 0, 100)
})

export const whole = (name: string, value: number, minimum: number, maximum: number): number => {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value
  throw new SchedulingError(`${name} must be a whole number from ${minimum} to ${maximum}`)
}

/** The address without slashes or `/v1` at its end: the paths of the contract begin with them. */
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

/** What the client itself decides: a second value would silently win over it, or be joined to it. */
const ownHeaders: ReadonlyMap<string, string> = new Map([
  ["authorization", "give the client a credential"],
  ["content-type", "bodies are JSON"],
  ["idempotency-key", "use the option idempotencyKey"]
])

/** Refuses headers that would not leave as they were given. The message never holds a value. */
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

/** A credential or a key: visible ASCII, as it goes into a header. Never shown. */
export const visibleAscii = (name: string, value: string | undefined, maxLength = 8192): string => {
  if (value === undefined || value === "") {
    throw new SchedulingError(`${name} is ${value === undefined ? "undefined" : "empty"}`)
  }
  if (value.length <= maxLength && /^[\x21-\x7e]+$/.test(value)) return value
  throw new SchedulingError(
    `${name} must be visible ASCII without spaces, at most ${maxLength} characters`
  )
}
