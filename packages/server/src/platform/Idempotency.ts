import { Caller } from "@scheduling/domain/auth/Caller"
import { IdempotencyConflict } from "@scheduling/domain/shared/Errors"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { dayMs } from "./millis.ts"
import { transactionOf } from "./transaction.ts"

export interface IdempotentRequest<A, I> {
  readonly key: string | undefined
  /** What makes two uses of a key the same operation: the endpoint, and its workspace if it has one. */
  readonly operation: string
  readonly payload: unknown
  readonly answer: Schema.Codec<A, I>
}

/** Makes a create safe to repeat: the key is claimed in the transaction of the create itself. */
export class Idempotency extends Context.Service<
  Idempotency,
  {
    readonly once: <A, I>(
      request: IdempotentRequest<A, I>
    ) => <E, R>(
      create: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | IdempotencyConflict, R | Caller>
  }
>()("@scheduling/server/platform/Idempotency") {
  static readonly layer: Layer.Layer<Idempotency, never, SqlClient.SqlClient> = Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)

      /** Waits for a concurrent request with the same key to commit; none where that one has the key. */
      const claim = (scope: string, key: string, hash: string, now: Date) => sql`
        INSERT INTO idempotent_requests (scope, key, request_hash, created_at)
        VALUES (${scope}, ${key}, ${hash}, ${now})
        ON CONFLICT (scope, key) DO UPDATE
        SET request_hash = EXCLUDED.request_hash, created_at = EXCLUDED.created_at, answer = NULL
        WHERE idempotent_requests.created_at <= ${new Date(now.getTime() - dayMs)}
        RETURNING key`

      const find = (scope: string, key: string) => sql<{
        request_hash: string
        answer: string | null
      }>`
        SELECT request_hash, answer
        FROM idempotent_requests
        WHERE scope = ${scope}
          AND key = ${key}`

      const keep = (scope: string, key: string, answer: string) => sql`
        UPDATE idempotent_requests
        SET answer = ${answer}
        WHERE scope = ${scope}
          AND key = ${key}`

      return Idempotency.of({
        once: ({ answer, key, operation, payload }) => {
          const codec = Schema.fromJsonString(answer)
          return (create) =>
            key === undefined
              ? create
              : Effect.gen(function* () {
                  const scope = `${callerId(yield* Caller)} ${operation}`
                  const hash = createHash("sha256")
                    .update(JSON.stringify(payload))
                    .digest("base64url")
                  const claimed = yield* claim(scope, key, hash, yield* DateTime.nowAsDate)
                  if (claimed.length === 0) {
                    const [stored] = yield* find(scope, key)
                    if (
                      stored === undefined ||
                      stored.answer === null ||
                      stored.request_hash !== hash
                    ) {
                      return yield* new IdempotencyConflict()
                    }
                    return yield* Effect.orDie(Schema.decodeEffect(codec)(stored.answer))
                  }
                  const made = yield* create
                  yield* keep(scope, key, yield* Effect.orDie(Schema.encodeEffect(codec)(made)))
                  return made
                }).pipe(Effect.catchTag("SqlError", Effect.die), transaction)
        }
      })
    })
  )
}

const callerId = (caller: Caller["Service"]) =>
  caller.kind === "jwt" ? caller.user_id : caller.api_key_id
