import { now, orAborted, sleep } from "./clock.ts"
import { ApiError, ConnectionError, SchedulingError, TimeoutError } from "./errors.ts"
import {
  checkHeaders,
  type Fetch,
  type Limits,
  limits,
  parseBaseUrl,
  type Settings
} from "./options.ts"
import { type Failure, isRepeatable, retryDelayMs } from "./retry.ts"
import { toApiError } from "./toApiError.ts"

/** A request that is complete but for the address of the service. */
export interface HttpRequest {
  readonly verb: string
  /** With its query. */
  readonly path: string
  readonly body?: object | undefined
  readonly bearer?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly maxRetries?: number | undefined
  /** However often it arrives, it works once, for a reason that method and key do not show. */
  readonly isRepeatable?: boolean
}

export interface Answer {
  readonly data: unknown
  readonly response: Response
}

/** Makes requests: attempts, timeouts and retries. Knows nothing of credentials. */
export class Http {
  readonly #baseUrl: string
  readonly #fetch: Fetch
  readonly #headers: Readonly<Record<string, string>>
  readonly #limits: Limits

  constructor(settings: Settings) {
    this.#baseUrl = parseBaseUrl(settings.baseUrl ?? "http://127.0.0.1:4000")
    // Looked up at each call, so that a patched or polyfilled one is used.
    this.#fetch = settings.fetch ?? ((url, init) => fetch(url, init))
    this.#headers = checkHeaders(settings.defaultHeaders)
    this.#limits = limits(settings, { timeoutMs: 30_000, maxRetries: 2 })
  }

  /** The answer, if it is one of 200 to 299. At most `maxRetries + 1` attempts. */
  async send(request: HttpRequest): Promise<Answer> {
    const { signal } = request
    const { maxRetries, timeoutMs } = limits(request, this.#limits)
    const init = this.#initOf(request)
    const repeatable = request.isRepeatable ?? isRepeatable(request.verb, request.idempotencyKey)
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(request.path, init, timeoutMs, signal)
      } catch (error) {
        const failure = attempt < maxRetries ? failureOf(error) : undefined
        const delay =
          failure &&
          retryDelayMs(failure, {
            number: attempt,
            isRepeatable: repeatable,
            now: now(),
            random: Math.random()
          })
        if (delay === undefined) throw error
        await sleep(delay, signal)
      }
    }
  }

  #initOf({ bearer, body, headers, idempotencyKey, verb }: HttpRequest): RequestInit {
    return {
      method: verb,
      headers: joined(
        { accept: "application/json" },
        this.#headers,
        checkHeaders(headers),
        bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
        idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey },
        body === undefined ? {} : { "content-type": "application/json" }
      ),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // The service never redirects, and one elsewhere would carry the request there.
      redirect: "manual"
    }
  }

  async #attempt(
    path: string,
    init: RequestInit,
    timeoutMs: number,
    signal: AbortSignal | undefined
  ): Promise<Answer> {
    signal?.throwIfAborted()
    const controller = new AbortController()
    const abort = () => controller.abort(signal?.reason)
    signal?.addEventListener("abort", abort, { once: true })
    const timer = setTimeout(
      () => controller.abort(new TimeoutError(`No answer within ${timeoutMs} ms`)),
      timeoutMs
    )
    try {
      // A `fetch` of the caller may know nothing of signals.
      return await orAborted(
        this.#exchange(path, { ...init, signal: controller.signal }),
        controller.signal
      )
    } catch (cause) {
      if (controller.signal.aborted) throw controller.signal.reason
      if (cause instanceof SchedulingError) throw cause
      throw new ConnectionError(`${init.method} ${this.#baseUrl}${path} failed: ${whyOf(cause)}`, {
        cause
      })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener("abort", abort)
    }
  }

  async #exchange(path: string, init: RequestInit): Promise<Answer> {
    // Browsers refuse a `fetch` that is called as a method of something else.
    const fetch = this.#fetch
    const response = await fetch(this.#baseUrl + path, init)
    const text = await response.text()
    const body = text === "" ? undefined : parseJson(text)
    if (!response.ok || body === notJson) throw toApiError(response, body)
    return { data: body, response }
  }
}

/** The later one wins, in whatever case the names are written. */
const joined = (...parts: ReadonlyArray<Readonly<Record<string, string>>>): Headers => {
  const headers = new Headers()
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    headers.set(name, value)
  }
  return headers
}

const failureOf = (error: unknown): Failure | undefined => {
  if (error instanceof ApiError) {
    const retryAfter = error.headers.get("retry-after") ?? undefined
    return { kind: "answer", status: error.status, retryAfter }
  }
  if (error instanceof TimeoutError) return { kind: "timeout" }
  return error instanceof ConnectionError ? { kind: "connection", cause: error.cause } : undefined
}

const notJson = Symbol("not JSON")

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return notJson
  }
}

/** `fetch failed` says nothing; its cause says `connect ECONNREFUSED 127.0.0.1:4000`. */
const whyOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (!(error.cause instanceof Error)) return error.message
  const code = "code" in error.cause ? String(error.cause.code) : ""
  return error.cause.message === "" ? code : error.cause.message
}
