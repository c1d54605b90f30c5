import { authorize } from "../../access/authorize.ts"
import type { CurrentWorker } from "@scheduling/domain/workers/WorkerAuthentication"
import { WorkerId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { batched } from "../../sql/batched.ts"

interface KnownWorker {
  readonly token_hash: string
  readonly worker: CurrentWorker["Service"]
}

export class WorkerTokensRepo extends Context.Service<
  WorkerTokensRepo,
  {
    /**
     * Batched: requests that arrive together share one statement. Never cached, so that a rotation
     * and a deletion hold at once.
     */
    readonly findByHash: (
      hashes: ReadonlyArray<string>
    ) => Effect.Effect<Option.Option<KnownWorker>>
    /** For a token that is stored under a retired secret. */
    readonly updateHash: (from: string, to: string) => Effect.Effect<void>
  }
>()("@scheduling/server/workers/protocol/WorkerTokensRepo") {
  static readonly layer: Layer.Layer<WorkerTokensRepo, never, SqlClient.SqlClient> = Layer.effect(
    WorkerTokensRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return WorkerTokensRepo.of({
        findByHash: yield* batched(findByHashes(sql)),
        updateHash: Effect.fn("WorkerTokensRepo.updateHash")(function* (from, to) {
          yield* sql`
            UPDATE worker_tokens
            SET token_hash = ${to}
            WHERE token_hash = ${from}`
        }, Effect.orDie)
      })
    })
  )
}

// ---------------------------------------------------------------------------

interface TokenRow {
  readonly token_hash: string
  readonly expires_at: Date | null
  readonly id: string
  readonly workspace_id: string
  readonly node_id: number | null
  readonly paused: boolean
  readonly labels: ReadonlyArray<string>
  readonly offered_labels: ReadonlyArray<string> | null
}

const findByHashes = (sql: SqlClient.SqlClient) => (asked: ReadonlyArray<ReadonlyArray<string>>) =>
  sql<TokenRow>`
    SELECT
      token_hash, expires_at, workers.id, workspace_id, node_id, paused, labels, offered_labels
    FROM worker_tokens
    JOIN workers ON workers.id = worker_tokens.worker_id
    WHERE token_hash = ANY (${asked.flat()}::text[])`.pipe(
    Effect.orDie,
    Effect.map((rows) => {
      const found = new Map(rows.map((row) => [row.token_hash, row]))
      return asked.map((hashes) =>
        Option.fromNullishOr(
          hashes.map((hash) => found.get(hash)).find((row) => row !== undefined)
        ).pipe(Option.map(toKnown))
      )
    })
  )

const toKnown = (row: TokenRow): KnownWorker => ({
  token_hash: row.token_hash,
  worker: {
    id: WorkerId.make(row.id),
    workspace_id: authorize(row.workspace_id),
    session: row.node_id,
    paused: row.paused,
    labels: row.labels.filter((one) => row.offered_labels?.includes(one) ?? true),
    expires_at: row.expires_at
  }
})
