import { ApiKeyId } from "@scheduling/domain/shared/Ids"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Outbox } from "../../events/index.ts"
import { loop } from "../../core/index.ts"
import { timestampOf, transactionOf } from "../../store/index.ts"
import { ExpiringKeysRepo } from "./ExpiringKeysRepo.ts"
import { nextExpiryNoticeAt } from "./nextExpiryNoticeAt.ts"

/** Sends notices about keys that will expire, each notice once. */
export const ExpiringKeysLayer: Layer.Layer<
  never,
  never,
  ExpiringKeysRepo | Outbox | SqlClient.SqlClient
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const transaction = transactionOf(yield* SqlClient.SqlClient)
    const repo = yield* ExpiringKeysRepo
    const outbox = yield* Outbox

    const announceExpiring = Effect.gen(function* () {
      const now = yield* DateTime.nowAsDate
      const keys = yield* repo.claim(now, batch)
      if (keys.length === 0) return 0
      yield* outbox.announce(
        ...keys
          .filter(({ expires_at }) => expires_at > now)
          .map(({ expires_at, id, key_prefix, name, workspace_id }) => ({
            workspace_id,
            event: "api_key.expiring" as const,
            subject_id: id,
            at: now,
            data: {
              name,
              reason: `The API key expires at ${timestampOf(expires_at)}.`,
              facts: [{ name: "Key", value: `${key_prefix}…` }],
              about: { api_key: { id: ApiKeyId.make(id) } }
            }
          }))
      )
      yield* repo.updateWarnAt(
        keys.map(({ expires_at, id }) => ({ id, warn_at: nextExpiryNoticeAt(expires_at, now) }))
      )
      return keys.length
    }).pipe(transaction)

    yield* Effect.forkScoped(
      loop("announcing expiring API keys", announceExpiring, {
        between: (count) => (count === batch ? Effect.void : Effect.sleep("10 minutes")),
        pauseAtMost: "1 minute"
      })
    )
  })
)

const batch = 500
