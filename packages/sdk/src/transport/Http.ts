import { now, raceWithAbort, sleep } from "./clock.ts"
import { userAgent, environmentVariable } from "./environment.ts"
import { ApiError, ConnectionError, SchedulingError, TimeoutError } from "../errors.ts"
import {
  checkHeaders,
  type Fetch,
  type RequestLimits,
  requestLimits,
  parseBaseUrl,
  type Settings
} from "../options.ts"
import { version } from "../generated/version.ts"
import { type Observer, notifyRequest, notifyResponse } from "./observer.ts"
import { type Failure, isRepeatable, retryDelayMs } from "./retry.ts"
import { toApiError } from "./toApiError.ts"

/** A complete request except for the URL of the service. */
export interface HttpRequest {
  readonly verb: string
  /** The path including the query. */
  readonly path: string
  readonly body?: object | undefined
  /** A form body, sent instead of a JSON body. */
  readonly form?: Readonly<Record<string, string>>
  readonly bearer?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly maxRetries?: number | undefined
  /**
   * True for a request that may be repeated although neither its method nor a key makes it
   * idempotent.
   */
  readonly isRepeatable?: boolean
  /** True if the response is an endless stream, which the client does not read to its end. */
  readonly isStream?: boolean
}

export interface ResponseWithData {
  readonly data: unknown
  readonly response: Response
}

/** The result of a failed attempt. */
interface FailedAttempt {
  readonly error?: unknown
  readonly retryInMs?: number | undefined
}

const userAgentHeader = userAgent(version)

/** Sends requests with timeouts and retries. Credentials are added by the caller. */
export class Http {
  readonly #baseUrl: string
  readonly #fetch: Fetch
  readonly #headers: Readonly<Record<string, string>>
  readonly #limits: RequestLimits
  readonly #observer: Observer

  constructor(settings: Settings) {
    const baseUrl = settings.baseUrl ?? environmentVariable("SCHEDULING_URL")
    this.#baseUrl = parseBaseUrl(baseUrl ?? "http://127.0.0.1:4000")
    // The global `fetch` is looked up at each call, so that a patched or polyfilled `fetch` is
    // used.
    this.#fetch = settings.fetch ?? ((url, init) => fetch(url, init))
    this.#headers = checkHeaders(settings.defaultHeaders)
    this.#limits = requestLimits(settings, { timeoutMs: 30_000, maxRetries: 2 })
    const logger = environmentVariable("SCHEDULING_LOG") === "debug" ? console : undefined
    const { onRequest, onResponse } = settings
    this.#observer = { logger: settings.logger ?? logger, onRequest, onResponse }
  }

  /** Returns the response if its status is 200 to 299. Makes at most `maxRetries + 1` attempts. */
  async send(request: HttpRequest): Promise<ResponseWithData> {
    const { signal } = request
    const { maxRetries, timeoutMs } = requestLimits(request, this.#limits)
    const init = this.#initOf(request)
    const repeatable = request.isRepeatable ?? isRepeatable(request.verb, request.idempotencyKey)
    for (let number = 0; ; number++) {
      const started = now()
      const attempt = {
        method: request.verb,
        url: this.#baseUrl + request.path,
        attempt: number + 1
      }
      const notifyEnd = (
        answer: Pick<ApiError, "headers" | "status"> | undefined,
        end: FailedAttempt = {}
      ) =>
        notifyResponse(this.#observer, {
          ...attempt,
          status: answer?.status,
          requestId: answer?.headers.get("x-request-id") ?? undefined,
          durationMs: now() - started,
          error: end.error instanceof Error ? end.error : undefined,
          retryInMs: end.retryInMs
        })
      notifyRequest(this.#observer, attempt)
      try {
        const answer = await this.#attempt(request, init, timeoutMs, signal)
        notifyEnd(answer.response)
        return answer
      } catch (error) {
        const failure = number < maxRetries ? failureOf(error) : undefined
        const delay =
          failure &&
          retryDelayMs(failure, {
            number,
            isRepeatable: repeatable,
            now: now(),
            random: Math.random()
          })
        notifyEnd(error instanceof ApiError ? error : undefined, { error, retryInMs: delay })
        if (delay === undefined) throw error
        await sleep(delay, signal)
      }
    }
  }

  #initOf({ bearer, body, form, headers, idempotencyKey, verb }: HttpRequest): RequestInit {
    return {
      method: verb,
      headers: mergeHeaders(
        { accept: "application/json" },
        userAgentHeader === undefined ? {} : { "user-agent": userAgentHeader },
        this.#headers,
        checkHeaders(headers),
        bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
        idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey },
        body === undefined ? {} : { "content-type": "application/json" },
        form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }
      ),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(form !== undefined && { body: new URLSearchParams(form).toString() }),
      // The service never redirects. A redirect would send the request to another server.
      redirect: "manual"
    }
  }

  async #attempt(
    request: HttpRequest,
    init: RequestInit,
    timeoutMs: number,
    signal: AbortSignal | undefined
  ): Promise<ResponseWithData> {
    signal?.throwIfAborted()
    const controller = new AbortController()
    const abort = () => controller.abort(signal?.reason)
    signal?.addEventListener("abort", abort, { once: true })
    const timer = setTimeout(
      () => controller.abort(new TimeoutError(`No response within ${timeoutMs} ms`)),
      timeoutMs
    )
    try {
      // A `fetch` given as an option might ignore signals.
      return await raceWithAbort(
        this.#exchange(request, { ...init, signal: controller.signal }),
        controller.signal
      )
    } catch (cause) {
      if (controller.signal.aborted) throw controller.signal.reason
      if (cause instanceof SchedulingError) throw cause
      throw new ConnectionError(
        `${init.method} ${this.#baseUrl}${request.path} failed: ${reasonOf(cause)}`,
        {
          cause
        }
      )
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener("abort", abort)
    }
  }

  async #exchange({ isStream, path }: HttpRequest, init: RequestInit): Promise<ResponseWithData> {
    // Browsers reject a `fetch` that is called as a method of another object.
    const fetch = this.#fetch
    const response = await fetch(this.#baseUrl + path, init)
    if (isStream === true && response.ok) return { data: undefined, response }
    const text = await response.text()
    const body = text === "" ? undefined : parseJson(text)
    if (!response.ok || body === notJson) throw toApiError(response, body)
    return { data: body, response }
  }
}

/** Merges headers. Later values win; names are case-insensitive. */
const mergeHeaders = (...parts: ReadonlyArray<Readonly<Record<string, string>>>): Headers => {
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

/**
 * Returns the message of an error or of its cause. `fetch failed` is useless, but its cause says
 * `connect ECONNREFUSED 127.0.0.1:4000`.
 */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (!(error.cause instanceof Error)) return error.message
  const code = "code" in error.cause ? String(error.cause.code) : ""
  return error.cause.message === "" ? code : error.cause.message
}
