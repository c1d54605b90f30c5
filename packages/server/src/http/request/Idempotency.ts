import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Principal, type Requester, requesterOf } from "@scheduling/domain/auth/Principal"
import {
  type IdempotencyFailure,
  IdempotencyInProgress,
  IdempotencyMismatch,
  RateLimited
} from "@scheduling/domain/shared/Errors"
import { Clock, Context, DateTime, Effect, Layer, Schema } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { AccountRateLimits } from "../fairness/AccountRateLimits.ts"
import { dayMs, elapsedMs, mac, seal, Secrets, unseal } from "../../core/index.ts"
import { transactionOf } from "../../store/index.ts"

export interface IdempotentRequest<A, I> {
  readonly key: string | undefined
  /** The workspace that owns the created record. Absent if the record belongs to the principal. */
  readonly workspaceId?: AuthorizedWorkspaceId
  /** The scope in which a key is unique: the endpoint, and the record on which it acts. */
  readonly operation: string
  readonly payload: unknown
  readonly answer: Schema.Codec<A, I>
}

/**
 * The number of bytes of responses that this node may store per day for a workspace, and for an
 * account with all its workspaces. It is enough for ordinary creates at the full rate.
 */
export const StoredResponseLimits = Context.Reference<{
  readonly each: number
  readonly account: number
}>("@scheduling/server/http/request/StoredResponseLimits", {
  defaultValue: () => ({ each: 1_000_000_000, account: 4_000_000_000 })
})

/**
 * Makes create requests idempotent. The key is stored in the same transaction as the new record.
 * Stored responses are encrypted, because they contain headers and bodies of calls. Only a MAC of
 * the request is stored.
 */
export class Idempotency extends Context.Service<
  Idempotency,
  {
    readonly once: <A, I>(
      request: IdempotentRequest<A, I>
    ) => <E, R>(
      create: Effect.Effect<A, E, R>
    ) => Effect.Effect<
      A,
      E | IdempotencyFailure | RateLimited,
      R | HttpServerRequest.HttpServerRequest | Principal
    >
    /** Does the same as `once` for a request without a principal. */
    readonly onceFor: <A, I>(
      requester: Requester,
      request: IdempotentRequest<A, I>
    ) => <E, R>(
      create: Effect.Effect<A, E, R>
    ) => Effect.Effect<
      A,
      E | IdempotencyFailure | RateLimited,
      R | HttpServerRequest.HttpServerRequest
    >
    /**
     * Deletes the stored responses of a workspace or an account. Call it in the transaction that
     * deletes the owner, after its row is deleted.
     */
    readonly removeOwnedBy: (ownerId: string) => Effect.Effect<void>
  }
>()("@scheduling/server/http/request/Idempotency") {
  static readonly layer: Layer.Layer<Idempotency, never, Secrets | SqlClient.SqlClient> =
    Layer.effect(
      Idempotency,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const transaction = transactionOf(sql)
        const secrets = yield* Secrets
        const requestKeys = secrets.keys("idempotent-request")
        const answerKeys = secrets.keys("idempotent-answer")

        const matchesUse = ({ principal_id, key, operation, owner_id }: Use) => sql`
          owner_id = ${owner_id}
          AND principal_id = ${principal_id}
          AND operation = ${operation}
          AND key = ${key}`

        /**
         * Stores the key of a request, or takes over an expired one. Waits for a concurrent request
         * with the same key to commit. Returns no row if the key is in use.
         */
        const take = (use: Use, request_hash: string, now: Date) =>
          Effect.catchReason(
            sql`
          INSERT INTO idempotent_requests ${sql.insert({ ...use, request_hash, created_at: now })}
          ON CONFLICT (owner_id, principal_id, operation, key) DO UPDATE
          SET request_hash = EXCLUDED.request_hash, created_at = EXCLUDED.created_at, sealed_answer = NULL
          WHERE idempotent_requests.created_at <= ${new Date(now.getTime() - dayMs)}
          RETURNING key`,
            "SqlError",
            "LockTimeoutError",
            () => Effect.fail(inProgress)
          )

        const find = (use: Use) => sql<{
          readonly request_hash: string
          readonly sealed_answer: string | null
        }>`
          SELECT request_hash, sealed_answer
          FROM idempotent_requests
          WHERE ${matchesUse(use)}`

        const rates = new AccountRateLimits(yield* StoredResponseLimits, dayMs)
        const clock = yield* Clock.Clock

        /**
         * Stores the response. If the limit on stored bytes is reached, the creation is rolled
         * back, because a repeated request could not get the same response.
         */
        const keep = Effect.fnUntraced(function* (use: Use, lane: bigint, answer: string) {
          const sealed = seal(answerKeys, contextOf(use), answer)
          const rate = rates.take(use.owner_id, lane, elapsedMs(clock), sealed.length)
          if (rate.isOver) {
            return yield* new RateLimited({
              retry_after: rate.seconds,
              message: tooManyBytes(rate.seconds)
            })
          }
          yield* sql`
            UPDATE idempotent_requests
            SET sealed_answer = ${sealed}
            WHERE ${matchesUse(use)}`
        })

        const onceFor: Idempotency["Service"]["onceFor"] = (
          { id: principal_id, lane },
          { answer, key, operation, payload, workspaceId }
        ) => {
          const codec = Schema.fromJsonString(answer)
          return (create) =>
            key === undefined
              ? create
              : Effect.gen(function* () {
                  const use = {
                    owner_id: workspaceId ?? principal_id,
                    principal_id,
                    operation,
                    key
                  }
                  const request = JSON.stringify(payload)
                  const now = yield* DateTime.nowAsDate
                  const taken = yield* take(use, mac(requestKeys[0], request), now)
                  if (taken.length === 0) {
                    const [stored] = yield* find(use)
                    if (stored === undefined || stored.sealed_answer === null) {
                      return yield* inProgress
                    }
                    const { request_hash, sealed_answer } = stored
                    if (!requestKeys.some((one) => request_hash === mac(one, request))) {
                      return yield* new IdempotencyMismatch()
                    }
                    yield* replayed
                    const given = unseal(answerKeys, contextOf(use), sealed_answer)
                    return yield* Effect.orDie(Schema.decodeEffect(codec)(given))
                  }
                  const made = yield* create
                  const text = yield* Effect.orDie(Schema.encodeEffect(codec)(made))
                  yield* keep(use, lane, text)
                  return made
                }).pipe(Effect.catchTag("SqlError", Effect.die), transaction)
        }

        return Idempotency.of({
          once: (request) => (create) =>
            request.key === undefined
              ? create
              : Effect.flatMap(Principal, (principal) =>
                  onceFor(requesterOf(principal), request)(create)
                ),

          onceFor,

          removeOwnedBy: Effect.fn("Idempotency.removeOwnedBy")(function* (ownerId) {
            yield* sql`
              DELETE FROM idempotent_requests
              WHERE owner_id = ${ownerId}`
          }, Effect.orDie)
        })
      })
    )
}

const inProgress = new IdempotencyInProgress({ retry_after: 1 })

const replayed = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "idempotent-replayed", "true"))
)

interface Use {
  readonly owner_id: string
  readonly principal_id: string
  readonly operation: string
  readonly key: string
}

const contextOf = ({ principal_id, key, operation, owner_id }: Use) =>
  [owner_id, principal_id, operation, key].join(" ")

const tooManyBytes = (seconds: number) =>
  `The stored responses to requests with an Idempotency-Key have reached the daily limit of this workspace or account. Omit the header, or try again in ${seconds} s.`
