import { authorize } from "../../accounts/index.ts"
import type { CurrentWorker } from "@scheduling/domain/workers/WorkerAuthentication"
import { WorkerId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { agentLeaseMs } from "../../engine/index.ts"
import { batchRequests, variableLengthColumns } from "../../store/index.ts"
import { heartbeatBatch, idleClaimBatch } from "./batchSettings.ts"
import {
  hasProbesSql,
  watchedProcessesSql,
  watchedProcessesHashSql
} from "./watchedProcessesSql.ts"

export interface WorkerOfToken {
  readonly token_hash: string
  readonly worker: CurrentWorker["Service"]
}

export interface ClaimingWorker extends WorkerOfToken {
  /** The hash of the list of processes that the agent should watch: see `watchedProcessesHashSql`. */
  readonly watching: string
  readonly has_probes: boolean
}

interface Claiming {
  readonly hashes: ReadonlyArray<string>
  readonly session: number
}

export class WorkerTokensRepo extends Context.Service<
  WorkerTokensRepo,
  {
    /**
     * Finds the worker of a token. Concurrent requests share one statement. The result is not
     * cached, so that a rotation or deletion takes effect immediately.
     */
    readonly findByHash: (
      hashes: ReadonlyArray<string>
    ) => Effect.Effect<Option.Option<WorkerOfToken>>
    /**
     * Finds the worker of a token for heartbeats. Heartbeats are frequent and can wait, so more of
     * them share a statement.
     */
    readonly findByHashForBeat: (
      hashes: ReadonlyArray<string>
    ) => Effect.Effect<Option.Option<WorkerOfToken>>
    /** Finds the worker of a token for a claim, and renews its session. */
    readonly findForClaim: (claiming: Claiming) => Effect.Effect<Option.Option<ClaimingWorker>>
    /**
     * Finds the worker of a token for a claim of an idle agent, and renews its session. Such claims
     * are frequent, so more of them share a statement.
     */
    readonly findForIdleClaim: (claiming: Claiming) => Effect.Effect<Option.Option<ClaimingWorker>>
    /** Replaces the hash of a token that was stored with a retired secret. */
    readonly updateHash: (from: string, to: string) => Effect.Effect<void>
  }
>()("@scheduling/server/workers/protocol/WorkerTokensRepo") {
  static readonly layer: Layer.Layer<WorkerTokensRepo, never, SqlClient.SqlClient> = Layer.effect(
    WorkerTokensRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return WorkerTokensRepo.of({
        findByHash: yield* batchRequests(findByHashes(sql)),
        findByHashForBeat: yield* batchRequests(findByHashes(sql), heartbeatBatch),
        findForClaim: yield* batchRequests(findForClaims(sql)),
        findForIdleClaim: yield* batchRequests(findForClaims(sql), idleClaimBatch),
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
    WHERE token_hash = ANY (${variableLengthColumns(sql, asked.flat())("text", (hash) => hash)}::text[])`.pipe(
    Effect.orDie,
    Effect.map((rows) => {
      const found = new Map(rows.map((row) => [row.token_hash, row]))
      return asked.map((hashes) => Option.map(firstOf(found, hashes), toKnown))
    })
  )

/** The minimum interval between two renewals of a session. */
const minRenewalIntervalMs = 1_000

/**
 * Finds workers for claims. Only the current session of a worker is renewed, and no session if the
 * token has expired.
 */
const findForClaims = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (claims: ReadonlyArray<Claiming>) {
    const now = yield* DateTime.nowAsDate
    const asked = claims.flatMap(({ hashes, session }) =>
      hashes.map((token_hash) => ({ token_hash, session }))
    )
    const column = variableLengthColumns(sql, asked)
    const lease = sql`now() + ${agentLeaseMs} * interval '1 millisecond'`
    const rows = yield* sql<TokenRow & Pick<ClaimingWorker, "has_probes" | "watching">>`
      WITH known AS (
        SELECT
          asked.session, token_hash, expires_at, workers.id, workspace_id, node_id, paused, labels,
          offered_labels
        FROM unnest(
          ${column("text", ({ token_hash }) => token_hash)},
          ${column("int4", ({ session }) => session)}
        ) AS asked (token_hash, session)
        JOIN worker_tokens USING (token_hash)
        JOIN workers ON workers.id = worker_tokens.worker_id
      ), renewed AS (
        UPDATE nodes
        SET lease_until = ${lease}
        FROM known
        WHERE nodes.id = known.node_id
          AND nodes.id = known.session
          AND nodes.died_at IS NULL
          AND nodes.lease_until < ${lease} - ${minRenewalIntervalMs} * interval '1 millisecond'
          AND (known.expires_at IS NULL OR known.expires_at > ${now})
      )
      SELECT
        token_hash, expires_at, known.id, workspace_id, paused, labels, offered_labels,
        CASE WHEN nodes.died_at IS NULL THEN nodes.id END AS node_id,
        ${sql.literal(watchedProcessesHashSql("watched.watch"))} AS watching,
        ${sql.literal(hasProbesSql("known.id"))} AS has_probes
      FROM known
      LEFT JOIN nodes ON nodes.id = known.node_id
      CROSS JOIN LATERAL (SELECT ${sql.literal(watchedProcessesSql("known"))} AS watch) AS watched`
    const found = new Map(rows.map((row) => [row.token_hash, row]))
    return claims.map(({ hashes }) =>
      Option.map(firstOf(found, hashes), (row) => ({
        ...toKnown(row),
        watching: row.watching,
        has_probes: row.has_probes
      }))
    )
  }, Effect.orDie)

const firstOf = <Row>(found: ReadonlyMap<string, Row>, hashes: ReadonlyArray<string>) =>
  Option.fromNullishOr(hashes.map((hash) => found.get(hash)).find((row) => row !== undefined))

const toKnown = (row: TokenRow): WorkerOfToken => ({
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
