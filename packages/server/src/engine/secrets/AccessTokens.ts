import { OutgoingCalls } from "@scheduling/calls/OutgoingCalls"
import type { CallResult } from "@scheduling/calls/CallResult"
import { secretsMasker } from "@scheduling/calls/maskSecrets"
import type { OAuth2Auth } from "@scheduling/domain/calls/CallAuth"
import { Clock, Context, Deferred, Effect, Layer, Result, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  Ids,
  longSecondsBounds,
  mac,
  Meters,
  seal,
  Secrets,
  unsealIfKnown
} from "../../core/index.ts"

/** An access token issued by an authorization server. */
export interface AccessToken extends AccessTokenId {
  readonly text: string
}

/** Identifies an access token without its text. */
export interface AccessTokenId {
  /** The id of the token request that returned it. */
  readonly requestId: string
  readonly sealed: string
}

/** A token, or the reason why none was issued. */
type Token = Result.Result<AccessToken, string>

/**
 * How long before its expiry a token is replaced. If a tenth of its lifetime is shorter, that time
 * is used instead.
 */
const marginSeconds = 30

/** The assumed lifetime of a token whose server does not specify one. */
const defaultLifeSeconds = 300

/** The pause after a token request has failed. */
const pauseSeconds = 5

/**
 * A 401 response is taken to mean that the token was revoked only if the token is at least this
 * old. For a newer token, the cause must be something else.
 */
const leastAgeSeconds = 30

const requestTimeoutSeconds = 20

/**
 * How long the lease on a token request lasts. After this time, another node makes the request,
 * because the node that began it may be dead.
 */
const leaseSeconds = requestTimeoutSeconds + 10

/** The interval at which a node checks whether another node has obtained a token. */
const pollMs = 100

const maxRemembered = 10_000

/**
 * The access tokens of calls with OAuth2 client credentials. One node requests a token, and all
 * calls of all nodes use it until shortly before it expires. Tokens are encrypted in the database
 * and in memory. The id of a token is a keyed hash of everything that its request contains, so a
 * changed client secret leads to a separate token.
 *
 * 1. `get` returns the token that this node has cached, if it is still valid.
 * 2. Calls without a valid token share one `obtain`.
 * 3. `obtain` reads the token from the database. If there is no valid one, it takes the lease,
 *    requests a token from the authorization server, and stores the token or the failure.
 */
export class AccessTokens extends Context.Service<
  AccessTokens,
  {
    /**
     * Returns the token for a request. The references to secrets in `request` are already replaced
     * by their values.
     */
    readonly get: (workspaceId: string, request: OAuth2Auth) => Effect.Effect<Token>
    /**
     * Forgets a token that a server has rejected. Returns true if the call can be retried with
     * another token: the rejected one was old enough to have been revoked, or was already replaced.
     */
    readonly reject: (workspaceId: string, token: AccessTokenId) => Effect.Effect<boolean>
  }
>()("@scheduling/server/engine/secrets/AccessTokens") {
  static readonly layer: Layer.Layer<
    AccessTokens,
    never,
    OutgoingCalls | Ids | Secrets | SqlClient.SqlClient
  > = Layer.effect(
    AccessTokens,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const call = yield* OutgoingCalls
      const ids = yield* Ids
      const scope = yield* Effect.scope
      const ring = (yield* Secrets).keys("access-token")
      const meters = yield* Meters
      const durations = (outcome: "issued" | "failed") =>
        meters.histogram(
          "scheduling_access_token_request_duration_seconds",
          "The duration of requests for access tokens of calls.",
          longSecondsBounds,
          { outcome }
        )
      const issued = durations("issued")
      const failed = durations("failed")
      const remembered = new Map<string, { readonly sealed: string; readonly untilMs: number }>()
      const flights = new Map<string, Deferred.Deferred<Token>>()

      /**
       * Returns the id of a token. The hash is keyed, because it is stored and a client secret may
       * be short enough to be guessed.
       */
      const idOf = (
        workspaceId: string,
        { audience, client_id, client_secret, scope: scopes, token_url }: OAuth2Auth
      ): string =>
        mac(
          ring[0],
          JSON.stringify([workspaceId, token_url, client_id, client_secret, scopes, audience])
        )

      const openToken = (requestId: string, sealed: string): AccessToken | undefined => {
        const text = unsealIfKnown(ring, requestId, sealed)
        return text === undefined ? undefined : { text, requestId, sealed }
      }

      const remember = Effect.fnUntraced(function* (id: string, sealed: string, seconds: number) {
        if (remembered.size >= maxRemembered) remembered.clear()
        const now = yield* Clock.currentTimeMillis
        remembered.set(id, { sealed, untilMs: now + seconds * 1_000 })
      })

      const findCached = Effect.fnUntraced(function* (id: string) {
        const token = remembered.get(id)
        if (token === undefined || token.untilMs <= (yield* Clock.currentTimeMillis)) return
        return openToken(id, token.sealed)
      })

      /**
       * Takes the lease on requesting a token, unless there is a token or another node has the
       * lease.
       */
      const takeLease = Effect.fnUntraced(function* (workspaceId: string, id: string) {
        const rows = yield* sql`
          INSERT INTO access_tokens (workspace_id, id, asking_until)
          VALUES (${workspaceId}, ${id}, now() + ${leaseSeconds} * interval '1 second')
          ON CONFLICT (workspace_id, id) DO UPDATE
          SET asking_until = excluded.asking_until, error = NULL
          WHERE (access_tokens.usable_until IS NULL OR access_tokens.usable_until <= now())
            AND (access_tokens.asking_until IS NULL OR access_tokens.asking_until <= now())
          RETURNING id`
        return rows.length > 0
      })

      const find = (workspaceId: string, id: string) =>
        Effect.map(
          sql<StoredToken>`
            SELECT
              sealed_token, error,
              date_part('epoch', usable_until - now()) AS usable_seconds,
              date_part('epoch', asking_until - now()) AS asking_seconds
            FROM access_tokens
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}`,
          ([row]) => row
        )

      const store = Effect.fnUntraced(function* (workspaceId: string, id: string, answer: Answer) {
        if (Result.isFailure(answer)) {
          yield* sql`
            UPDATE access_tokens
            SET
              sealed_token = NULL, usable_until = NULL, error = ${answer.failure},
              asking_until = now() + ${pauseSeconds} * interval '1 second'
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}`
          return Result.fail(answer.failure)
        }
        const { life_seconds, text } = answer.success
        const sealed = seal(ring, id, text)
        const usable = life_seconds - Math.min(marginSeconds, life_seconds / 10)
        yield* sql`
          UPDATE access_tokens
          SET
            sealed_token = ${sealed}, obtained_at = now(), asking_until = NULL, error = NULL,
            usable_until = now() + ${usable} * interval '1 second'
          WHERE workspace_id = ${workspaceId}
            AND id = ${id}`
        yield* remember(id, sealed, usable)
        return Result.succeed({ text, requestId: id, sealed })
      })

      /**
       * Deletes access tokens that expired an hour ago, such as those of deleted tasks, which
       * nothing replaces.
       */
      const removeOld = (workspaceId: string) =>
        sql`
          DELETE FROM access_tokens
          WHERE workspace_id = ${workspaceId}
            AND greatest(usable_until, asking_until) < now() - interval '1 hour'`

      const obtain = Effect.fnUntraced(function* (
        workspaceId: string,
        id: string,
        request: OAuth2Auth
      ): Effect.fn.Return<Token, unknown> {
        for (;;) {
          if (yield* takeLease(workspaceId, id)) {
            yield* removeOld(workspaceId)
            const { answer, seconds } = yield* ask(call, workspaceId, yield* ids.next, request)
            ;(Result.isSuccess(answer) ? issued : failed).observe(seconds)
            return yield* store(workspaceId, id, answer)
          }
          const row = yield* find(workspaceId, id)
          if (row?.sealed_token != null && (row.usable_seconds ?? 0) > 0) {
            const token = openToken(id, row.sealed_token)
            if (token !== undefined) {
              yield* remember(id, row.sealed_token, row.usable_seconds ?? 0)
              return Result.succeed(token)
            }
            // The token was encrypted with an APP_SECRET that is no longer configured.
            yield* forget(workspaceId, id, row.sealed_token)
          }
          if (row?.error != null && (row.asking_seconds ?? 0) > 0) return Result.fail(row.error)
          yield* Effect.sleep(pollMs)
        }
      })

      const forget = (workspaceId: string, id: string, sealed: string, leastAge = 0) =>
        sql`
          UPDATE access_tokens
          SET sealed_token = NULL, usable_until = NULL
          WHERE workspace_id = ${workspaceId}
            AND id = ${id}
            AND sealed_token = ${sealed}
            AND obtained_at <= now() - ${leastAge} * interval '1 second'`

      return AccessTokens.of({
        get: Effect.fnUntraced(function* (workspaceId, request) {
          const id = idOf(workspaceId, request)
          const token = yield* findCached(id)
          if (token !== undefined) return Result.succeed(token)
          const going = flights.get(id)
          if (going !== undefined) return yield* Deferred.await(going)
          const flight = Deferred.makeUnsafe<Token>()
          flights.set(id, flight)
          yield* obtain(workspaceId, id, request).pipe(
            Effect.retry({ schedule: Schedule.spaced("500 millis") }),
            Effect.orDie,
            Effect.onExit((exit) => {
              flights.delete(id)
              return Deferred.done(flight, exit)
            }),
            // Aborting one call must not abort the token request, because other calls wait for it.
            Effect.forkIn(scope)
          )
          return yield* Deferred.await(flight)
        }),

        reject: Effect.fnUntraced(function* (workspaceId, { requestId, sealed }) {
          const cached = remembered.get(requestId)
          if (cached !== undefined && cached.sealed !== sealed) return true
          yield* forget(workspaceId, requestId, sealed, leastAgeSeconds)
          const row = yield* find(workspaceId, requestId)
          // The token is too new to have been revoked.
          if (row?.sealed_token === sealed) return false
          if (remembered.get(requestId)?.sealed === sealed) remembered.delete(requestId)
          return true
        }, Effect.orDie)
      })
    })
  )
}

interface StoredToken {
  readonly sealed_token: string | null
  readonly error: string | null
  readonly usable_seconds: number | null
  readonly asking_seconds: number | null
}

type Answer = Result.Result<{ readonly text: string; readonly life_seconds: number }, string>

/** Requests a token from the authorization server (RFC 6749, 4.4), and measures how long it takes. */
const ask = Effect.fnUntraced(function* (
  call: OutgoingCalls["Service"],
  workspace_id: string,
  execution_id: string,
  { audience, client_id, client_secret, scope, token_url }: OAuth2Auth
): Effect.fn.Return<{ readonly answer: Answer; readonly seconds: number }> {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience })
  })
  const credentials = Buffer.from(
    `${encodeURIComponent(client_id)}:${encodeURIComponent(client_secret)}`
  ).toString("base64")
  const result = yield* call.run({
    workspace_id,
    execution_id,
    attempt: 1,
    task: null,
    method: "POST",
    url: token_url,
    headers: {
      authorization: `Basic ${credentials}`,
      "content-type": "application/x-www-form-urlencoded",
      accept: "application/json"
    },
    body: form.toString(),
    timeout_seconds: requestTimeoutSeconds,
    keep_bytes: 64 * 1024
  })
  const mask = secretsMasker([client_secret, credentials])
  return { answer: answerOf(result, token_url, mask), seconds: result.duration_ms / 1_000 }
})

const answerOf = (
  result: CallResult,
  token_url: string,
  mask: (text: string) => string
): Answer => {
  const server = `the authorization server ${new URL(token_url).origin}`
  const body = result.response_body ?? ""
  if (result.outcome !== "success") {
    const { error } = Result.getOrElse(readRefusal(body), () => ({ error: undefined }))
    const reason = result.error?.message ?? "issued no token"
    return Result.fail(mask(`${server} ${reason}${error === undefined ? "" : `: ${error}`}`))
  }
  return Result.mapBoth(readToken(body), {
    onSuccess: ({ access_token, expires_in }) => ({
      text: access_token,
      life_seconds: expires_in ?? defaultLifeSeconds
    }),
    onFailure: () => `${server} responded without a bearer token`
  })
}

const readToken = Schema.decodeUnknownResult(
  Schema.fromJsonString(
    Schema.Struct({
      access_token: Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{1,8192}$/)),
      token_type: Schema.String.check(Schema.isPattern(/^bearer$/i)),
      expires_in: Schema.optionalKey(
        Schema.Finite.check(Schema.isBetween({ minimum: 1, maximum: 31_536_000 }))
      )
    })
  )
)

const readRefusal = Schema.decodeUnknownResult(
  Schema.fromJsonString(
    Schema.Struct({ error: Schema.String.check(Schema.isPattern(/^[\w.-]{1,60}$/)) })
  )
)
