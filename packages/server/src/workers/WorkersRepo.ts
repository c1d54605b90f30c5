import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { WorkerId } from "@scheduling/domain/shared/Ids"
import type { Worker, WorkerStatus } from "@scheduling/domain/workers/Worker"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { authorize } from "../accounts/index.ts"
import { agentLeaseMs } from "../engine/index.ts"
import { LiveChanges, publishAfterCommit } from "../events/index.ts"
import { type PageRequest, timestampOf, timestampOrNull } from "../store/index.ts"
import { type ChangedWorker, workerChange } from "./workerChange.ts"

export interface WorkerRow {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly name: string
  readonly labels: ReadonlyArray<string>
  readonly node_id: number | null
  readonly token_prefix: string
  readonly status: WorkerStatus
  readonly last_seen_at: Date | null
  readonly version: string | null
  readonly host: string | null
  readonly running: number
  readonly slots: number | null
  readonly created_at: Date
  readonly updated_at: Date
}

type NewWorker = Pick<WorkerRow, "id" | "workspace_id" | "name" | "labels" | "created_at">

export interface NewWorkerToken {
  readonly worker_id: string
  readonly token_hash: string
  readonly token_prefix: string
  readonly created_at: Date
}

export const toWorker = (row: WorkerRow): Worker => ({
  id: WorkerId.make(row.id),
  name: row.name,
  labels: row.labels,
  token_prefix: row.token_prefix,
  status: row.status,
  last_seen_at: timestampOrNull(row.last_seen_at),
  version: row.version,
  host: row.host,
  running: row.running,
  slots: row.slots,
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})

/** A process monitor that was deleted together with its worker. */
export interface RemovedMonitor {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly updated_at: Date
}

export class WorkersRepo extends Context.Service<
  WorkersRepo,
  {
    readonly insert: (worker: NewWorker) => Effect.Effect<void>
    /**
     * Inserts a token. The previous token expires at `previousUntil`, and older tokens immediately.
     */
    readonly insertToken: (token: NewWorkerToken, previousUntil: Date) => Effect.Effect<void>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<WorkerRow>>
    readonly lock: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<boolean>
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<WorkerRow>>
    readonly update: (
      worker: Pick<WorkerRow, "id" | "workspace_id" | "name" | "labels" | "updated_at">
    ) => Effect.Effect<void>
    readonly updatePaused: (
      worker: Pick<WorkerRow, "id" | "workspace_id" | "updated_at"> & { readonly paused: boolean }
    ) => Effect.Effect<void>
    /**
     * Ends the agent's session. Other workers get its runs, and the agent must start a new session.
     */
    readonly endSession: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<void>
    /** Expires a token and returns its worker, or none if the token had already expired. */
    readonly expireToken: (
      hashes: ReadonlyArray<string>,
      now: Date
    ) => Effect.Effect<
      Option.Option<{ readonly id: string; readonly workspace_id: AuthorizedWorkspaceId }>
    >
    /** Deletes the worker and its process monitors. Returns the deleted monitors. */
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<ReadonlyArray<RemovedMonitor>>
  }
>()("@scheduling/server/workers/WorkersRepo") {
  static readonly layer: Layer.Layer<WorkersRepo, never, SqlClient.SqlClient> = Layer.effect(
    WorkersRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const publish = publishAfterCommit(sql, yield* LiveChanges)
      const columns = sql`
        workers.id, workers.workspace_id, workers.name, workers.labels, workers.node_id,
        workers.version, workers.host, workers.slots, workers.created_at, workers.updated_at,
        token.token_prefix,
        CASE
          WHEN workers.paused THEN 'paused'
          WHEN session.id IS NOT NULL THEN 'online'
          WHEN workers.seen_at IS NULL THEN 'never_seen'
          ELSE 'offline'
        END AS status,
        coalesce(
          session.lease_until - ${agentLeaseMs} * interval '1 millisecond',
          workers.seen_at
        ) AS last_seen_at,
        (
          SELECT count(*)::int
          FROM runs
          WHERE runs.lease_owner = session.id
            AND runs.workspace_id = workers.workspace_id
            AND runs.state = 'running'
        ) AS running`
      const joined = sql.literal(`
        LEFT JOIN nodes AS session
          ON session.id = workers.node_id
          AND session.died_at IS NULL
          AND session.lease_until > now()
        CROSS JOIN LATERAL (
          SELECT token_prefix
          FROM worker_tokens
          WHERE worker_tokens.worker_id = workers.id
          ORDER BY created_at DESC
          LIMIT 1
        ) AS token`)

      return WorkersRepo.of({
        insert: Effect.fn("WorkersRepo.insert")(function* (worker) {
          yield* sql`
            INSERT INTO workers (id, workspace_id, name, labels, created_at, updated_at)
            VALUES (
              ${worker.id}, ${worker.workspace_id}, ${worker.name}, ${worker.labels}::text[],
              ${worker.created_at}, ${worker.created_at}
            )`
          yield* publish([worker], workerChange("worker.created"))
        }, Effect.orDie),

        insertToken: Effect.fn("WorkersRepo.insertToken")(function* (token, previousUntil) {
          yield* sql`
            DELETE FROM worker_tokens
            WHERE worker_id = ${token.worker_id}
              AND expires_at IS NOT NULL`
          yield* sql`
            UPDATE worker_tokens
            SET expires_at = ${previousUntil}
            WHERE worker_id = ${token.worker_id}`
          yield* sql`
            INSERT INTO worker_tokens (worker_id, token_hash, token_prefix, created_at)
            VALUES (
              ${token.worker_id}, ${token.token_hash}, ${token.token_prefix}, ${token.created_at}
            )`
        }, Effect.orDie),

        find: Effect.fn("WorkersRepo.find")(function* (workspaceId, id) {
          const rows = yield* sql<WorkerRow>`
            SELECT ${columns}
            FROM workers
            ${joined}
            WHERE workers.workspace_id = ${workspaceId}
              AND workers.id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        lock: Effect.fn("WorkersRepo.lock")(function* (workspaceId, id) {
          const rows = yield* sql`
            SELECT id
            FROM workers
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            FOR UPDATE`
          return rows.length > 0
        }, Effect.orDie),

        list: Effect.fn("WorkersRepo.list")(function* (workspaceId, page) {
          return yield* sql<WorkerRow>`
            SELECT ${columns}
            FROM workers
            ${joined}
            WHERE workers.workspace_id = ${workspaceId}
              AND workers.id < ${page.before}
            ORDER BY workers.id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        update: Effect.fn("WorkersRepo.update")(function* (worker) {
          const updated = yield* sql<ChangedWorker>`
            UPDATE workers
            SET
              name = ${worker.name},
              labels = ${worker.labels}::text[],
              updated_at = ${worker.updated_at}
            WHERE workspace_id = ${worker.workspace_id}
              AND id = ${worker.id}
            RETURNING id, workspace_id`
          yield* publish(updated, workerChange("worker.updated"))
        }, Effect.orDie),

        updatePaused: Effect.fn("WorkersRepo.updatePaused")(function* (worker) {
          const updated = yield* sql<ChangedWorker>`
            UPDATE workers
            SET paused = ${worker.paused}, updated_at = ${worker.updated_at}
            WHERE workspace_id = ${worker.workspace_id}
              AND id = ${worker.id}
              AND paused <> ${worker.paused}
            RETURNING id, workspace_id`
          yield* publish(updated, workerChange("worker.updated"))
        }, Effect.orDie),

        endSession: Effect.fn("WorkersRepo.endSession")(function* (workspaceId, id) {
          yield* sql`
            UPDATE nodes
            SET died_at = now()
            FROM workers
            WHERE workers.workspace_id = ${workspaceId}
              AND workers.id = ${id}
              AND nodes.id = workers.node_id
              AND nodes.died_at IS NULL`
        }, Effect.orDie),

        expireToken: Effect.fn("WorkersRepo.expireToken")(function* (hashes, now) {
          const rows = yield* sql<{ readonly id: string; readonly workspace_id: string }>`
            UPDATE worker_tokens
            SET expires_at = ${now}
            FROM workers
            WHERE token_hash = ANY (${hashes}::text[])
              AND (expires_at IS NULL OR expires_at > ${now})
              AND workers.id = worker_tokens.worker_id
            RETURNING workers.id, workers.workspace_id`
          return Option.map(Option.fromNullishOr(rows[0]), ({ id, workspace_id }) => ({
            id,
            workspace_id: authorize(workspace_id)
          }))
        }, Effect.orDie),

        remove: Effect.fn("WorkersRepo.remove")(function* (workspaceId, id) {
          const watched = yield* sql<{ readonly monitor_id: string }>`
            SELECT monitor_id
            FROM process_monitors
            WHERE workspace_id = ${workspaceId}
              AND worker_id = ${id}
            ORDER BY monitor_id
            FOR UPDATE`
          const monitorIds = watched.map(({ monitor_id }) => monitor_id)
          const monitors = yield* sql<RemovedMonitor>`
            DELETE FROM monitors
            WHERE workspace_id = ${workspaceId}
              AND id = ANY (${monitorIds}::uuid[])
            RETURNING id, name, version, updated_at`
          const removed = yield* sql<ChangedWorker>`
            DELETE FROM workers
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            RETURNING id, workspace_id`
          yield* publish(removed, workerChange("worker.deleted"))
          return monitors
        }, Effect.orDie)
      })
    })
  )
}
