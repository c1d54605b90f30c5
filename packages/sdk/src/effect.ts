import { Api } from "@scheduling/domain/Api"
import { Authentication } from "@scheduling/domain/auth/Authentication"
import { TokenPair } from "@scheduling/domain/auth/TokenPair"
import {
  Clock,
  Config,
  Context,
  Effect,
  Fiber,
  Layer,
  Option,
  Redacted,
  SynchronizedRef
} from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { userAgent } from "./transport/environment.ts"
import { retrySafeRequests, withIdempotencyKey } from "./effect/effectRequests.ts"
import { version } from "./generated/version.ts"
import {
  refreshLimits,
  renewalTimeOfNewToken,
  renewalTimeOfStoredToken
} from "./session/tokenLife.ts"
import { parseBaseUrl } from "./options.ts"
import { type WireClient, wireClient } from "./effect/wireClient.ts"

export { Api } from "@scheduling/domain/Api"
export * from "@scheduling/domain/auth/AuthErrors"
export * from "@scheduling/domain/billing/BillingErrors"
export type { TokenPair } from "@scheduling/domain/auth/TokenPair"
export {
  Conflict,
  Degraded,
  HeadersTooLarge,
  IdempotencyInProgress,
  IdempotencyMismatch,
  InternalError,
  InvalidSignature,
  MalformedJson,
  MalformedRequest,
  MethodNotAllowed,
  MisdirectedRequest,
  NotFound,
  OriginRefused,
  PayloadTooLarge,
  QuotaExceeded,
  RateLimited,
  RequestTimeout,
  Stale,
  Unavailable,
  UnsupportedMediaType,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
export {
  ApiKeyId,
  AuditEventId,
  ChainId,
  ChainRunId,
  CronTaskId,
  DelayedTaskId,
  EscalationPolicyId,
  ExecutionId,
  IncidentId,
  InvitationId,
  MaintenanceWindowId,
  MonitorEventId,
  MonitorId,
  NotificationChannelId,
  NotificationDeliveryId,
  QueueId,
  RecordId,
  ServiceAccountId,
  SessionId,
  SecretId,
  StatusPageId,
  SigningSecretId,
  SubjectId,
  UserId,
  WorkerId,
  WorkspaceId
} from "@scheduling/domain/shared/Ids"

export { untilFinished, WaitTimeout } from "./effect/untilFinished.ts"

export interface Settings {
  /**
   * The URL of the service, with or without `/v1` at its end. Defaults to `http://127.0.0.1:4000`.
   */
  readonly baseUrl?: string | undefined
  /** The maximum number of retries of a failed attempt that is safe to retry. Defaults to 2. */
  readonly maxRetries?: number | undefined
}

export interface SessionListener {
  /** Called with each new token pair. Store the pair: a refresh token works once. */
  readonly onTokens?: ((tokens: TokenPair) => Effect.Effect<void>) | undefined
}

export interface SessionOptions extends Settings, SessionListener {
  readonly tokens: Pick<TokenPair, "access_token" | "refresh_token">
}

export interface LoginOptions extends Settings, SessionListener {
  readonly email: string
  readonly password: Redacted.Redacted
}

/**
 * One member per group of the contract, with one method per endpoint. Input is plain: ids,
 * schedules and time zones are strings. Only secrets are `Redacted`.
 */
export interface Client extends WireClient<typeof Api> {}

/** A client for one credential. */
export class SchedulingClient extends Context.Service<SchedulingClient, Client>()(
  "@scheduling/sdk/SchedulingClient"
) {
  /** Uses an API key of one workspace. */
  static readonly layer = (
    options: { readonly apiKey: Redacted.Redacted } & Settings
  ): Layer.Layer<SchedulingClient, never, HttpClient.HttpClient> =>
    clientLayer(options).pipe(
      Layer.provide(
        HttpApiMiddleware.layerClient(Authentication, ({ endpoint, next, request }) =>
          next(withIdempotencyKey(endpoint, HttpClientRequest.bearerToken(request, options.apiKey)))
        )
      )
    )

  /** Uses the key in `SCHEDULING_API_KEY` and, if set, the URL in `SCHEDULING_URL`. */
  static readonly layerConfig: Layer.Layer<
    SchedulingClient,
    Config.ConfigError,
    HttpClient.HttpClient
  > = Layer.unwrap(
    Effect.gen(function* () {
      const apiKey = yield* Config.Redacted("SCHEDULING_API_KEY")
      const baseUrl = yield* Config.option(Config.String("SCHEDULING_URL"))
      return SchedulingClient.layer({ apiKey, baseUrl: Option.getOrUndefined(baseUrl) })
    })
  )

  /**
   * Uses a session. Its tokens are renewed shortly before they expire and when they are rejected,
   * once for all waiting fibers. After the session has ended, calls fail with `InvalidToken`.
   */
  static readonly layerSession = (
    options: SessionOptions
  ): Layer.Layer<SchedulingClient, never, HttpClient.HttpClient> =>
    clientLayer(options).pipe(
      Layer.provide(HttpApiMiddleware.layerClient(Authentication, sessionMiddleware(options)))
    )

  /** Uses a session that starts when the layer is built. */
  static readonly layerLogin = (options: LoginOptions) =>
    Layer.unwrap(
      Effect.gen(function* () {
        const login = yield* HttpApiClient.endpoint(Api, {
          group: "auth",
          endpoint: "login",
          httpClient: retrySafeRequests(options)(yield* HttpClient.HttpClient),
          baseUrl: address(options)
        })
        const password = withContractLabel("password", options.password)
        const tokens = yield* login({ payload: { email: options.email, password } })
        yield* options.onTokens?.(tokens) ?? Effect.void
        return SchedulingClient.layerSession({ ...options, tokens })
      })
    )
}

const address = ({ baseUrl = "http://127.0.0.1:4000" }: Settings) => parseBaseUrl(baseUrl)

const clientLayer = (settings: Settings) =>
  Layer.effect(
    SchedulingClient,
    HttpApiClient.make(Api, {
      baseUrl: address(settings),
      transformClient: (client) => withUserAgent(retrySafeRequests(settings)(client))
    }).pipe(Effect.map((client) => wireClient(Api, client)))
  )

/** Sets the user agent of requests that have none. */
const withUserAgent = HttpClient.mapRequest((request: HttpClientRequest.HttpClientRequest) =>
  agent === undefined || request.headers["user-agent"] !== undefined
    ? request
    : HttpClientRequest.setHeader(request, "user-agent", agent)
)

const agent = userAgent(version)

/**
 * Gives a secret the label that the contract's schema requires. A secret that a program creates has
 * either no label or a different one.
 */
const withContractLabel = (label: string, secret: Redacted.Redacted) =>
  Redacted.make(Redacted.value(secret), { label })

interface Tokens extends Pick<TokenPair, "access_token" | "refresh_token"> {
  readonly renewAt: number
}

const sessionMiddleware = (options: SessionOptions) =>
  Effect.gen(function* () {
    const refresh = yield* HttpApiClient.endpoint(Api, {
      group: "auth",
      endpoint: "refresh",
      httpClient: yield* HttpClient.HttpClient,
      baseUrl: address(options)
    })
    const { access_token, refresh_token } = options.tokens
    const tokens = yield* SynchronizedRef.make<Tokens>({
      access_token,
      refresh_token,
      renewAt: renewalTimeOfStoredToken(Redacted.value(access_token))
    })

    const keep = Effect.fnUntraced(function* (pair: TokenPair) {
      yield* options.onTokens?.(pair) ?? Effect.void
      return {
        ...pair,
        renewAt: renewalTimeOfNewToken(pair.expires_in, yield* Clock.currentTimeMillis)
      }
    })

    const renewed = Effect.fnUntraced(function* (refreshToken: Redacted.Redacted) {
      const refresh_token = withContractLabel("refresh_token", refreshToken)
      const pair = yield* refresh({ payload: { refresh_token } }).pipe(
        Effect.timeout(refreshLimits.timeoutMs),
        Effect.retry({ times: refreshLimits.maxRetries, while: HttpClient.isTransientError })
      )
      return yield* keep(pair)
    })

    /**
     * Sends a password change, which revokes the tokens of the session. Calls that are rejected in
     * the meantime wait for the new tokens.
     */
    const exchange = (
      send: (accessToken: Redacted.Redacted) => ReturnType<MiddlewareOptions["next"]>
    ) =>
      SynchronizedRef.modifyEffect(
        tokens,
        Effect.fnUntraced(function* (latest) {
          const response = yield* send(latest.access_token)
          if (response.status !== 200) return [response, latest] as const
          return [response, yield* keep(yield* Effect.orDie(decodePair(response)))] as const
        })
      ).pipe(Effect.forkDetach, Effect.flatMap(Fiber.join))

    /**
     * Renews the tokens if they are due. If the renewal fails, the tokens are kept, and the next
     * call with the old access token reports the problem.
     */
    const renewIf = Effect.fnUntraced(function* (isDue: (current: Tokens) => boolean) {
      const current = yield* SynchronizedRef.get(tokens)
      if (!isDue(current)) return current
      // The service invalidates the old token when it issues the new one. The renewal runs in a
      // separate fiber, so that the new token is not lost if the waiting fiber is interrupted.
      const renewal = yield* SynchronizedRef.updateAndGetEffect(tokens, (latest) =>
        isDue(latest)
          ? Effect.orElseSucceed(renewed(latest.refresh_token), () => latest)
          : Effect.succeed(latest)
      ).pipe(Effect.forkDetach)
      return yield* Fiber.join(renewal)
    })

    return Effect.fnUntraced(function* ({ endpoint, next, request }: MiddlewareOptions) {
      const keyed = withIdempotencyKey(endpoint, request)
      const now = yield* Clock.currentTimeMillis
      const { access_token: used } = yield* renewIf((current) => now >= current.renewAt)
      const send = (accessToken: Redacted.Redacted) =>
        next(HttpClientRequest.bearerToken(keyed, accessToken))
      const attempt = endpoint.identifier === "changePassword" ? exchange(send) : undefined
      const response = yield* attempt ?? send(used)
      if (!isTokenRejected(response)) return response
      // Another fiber may have renewed the tokens during this request.
      const { access_token: fresh } = yield* renewIf((current) => current.access_token === used)
      return fresh === used ? response : yield* attempt ?? send(fresh)
    })
  })

const decodePair = HttpClientResponse.schemaBodyJson(TokenPair)

type MiddlewareOptions = Parameters<
  HttpApiMiddleware.HttpApiMiddlewareClient<never, never, never>
>[0]

const isTokenRejected = ({ headers, status }: HttpClientResponse.HttpClientResponse) =>
  status === 401 && headers["www-authenticate"]?.includes("invalid_token") === true
