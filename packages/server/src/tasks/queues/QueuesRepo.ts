import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Conflict } from "@scheduling/domain/shared/Errors"
import type { QueueId } from "@scheduling/domain/shared/Ids"
import { maxCountedRuns, type Queue } from "@scheduling/domain/queues/Queue"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { definitionFields } from "@scheduling/domain/definitions/definitionFields"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { RecordedDefinition } from "../../accounts/index.ts"
import { failIfKeyTaken } from "../../core/index.ts"
import { type Change, LiveChanges, publishAfterCommit } from "../../events/index.ts"
import { dueCountSql, firstDueTimeSql } from "../../engine/index.ts"
import {
  countRows,
  isListedAfter,
  type ListFilters,
  listOrder,
  type ListRequest,
  matchesFilters,
  type PageRow,
  sortColumn,
  timestampOf,
  timestampOrNull
} from "../../store/index.ts"

export interface QueueRow {
  readonly id: QueueId
  readonly workspace_id: AuthorizedWorkspaceId
  readonly key: string | null
  readonly version: number
  readonly name: string
  readonly tags: ReadonlyArray<string>
  readonly max_concurrency: number | null
  readonly rate_per_second: number | null
  readonly paused: boolean
  readonly running: number
  readonly waiting: number
  readonly waiting_since: Date | null
  readonly created_by: Actor | null
  readonly updated_by: Actor | null
  readonly created_at: Date
  readonly updated_at: Date
}

type QueueFilters = ListFilters

export type StoredQueue = Omit<QueueRow, "running" | "waiting" | "waiting_since">

type ChangedQueue = Pick<StoredQueue, "id" | "workspace_id">

const toLiveChange =
  (type: "queue.created" | "queue.updated" | "queue.deleted") =>
  ({ id }: ChangedQueue): Change => ({ type, data: { queue: { id } } })

export const toQueue = (row: QueueRow): Queue => ({
  id: row.id,
  workspace_id: row.workspace_id,
  key: row.key,
  version: row.version,
  name: row.name,
  tags: row.tags,
  max_concurrency: row.max_concurrency,
  rate_per_second: row.rate_per_second,
  paused: row.paused,
  running: row.running,
  waiting: row.waiting,
  waiting_since: timestampOrNull(row.waiting_since),
  created_by: row.created_by,
  updated_by: row.updated_by ?? row.created_by,
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})

const defined = definitionFields("queue")

export const queueDefinition = (row: StoredQueue): RecordedDefinition => {
  const fields = new Map<string, unknown>(Object.entries(row))
  const stored = Object.fromEntries(defined.map((name) => [name, fields.get(name)]))
  const { updated_at, version } = row
  return {
    version,
    updated_at,
    updated_by: row.updated_by ?? row.created_by,
    stored,
    shown: stored
  }
}

export class QueuesRepo extends Context.Service<
  QueuesRepo,
  {
    /** Inserts the queue. Fails if another queue has the key. */
    readonly insert: (queue: StoredQueue) => Effect.Effect<void, Conflict>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: QueueId
    ) => Effect.Effect<Option.Option<QueueRow>>
    readonly findByKey: (
      workspaceId: AuthorizedWorkspaceId,
      key: string
    ) => Effect.Effect<Option.Option<QueueRow>>
    /** Locks the queue until the transaction ends, so that none of its runs is admitted. */
    readonly lock: (workspaceId: AuthorizedWorkspaceId, id: QueueId) => Effect.Effect<boolean>
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      filters: QueueFilters,
      page: ListRequest
    ) => Effect.Effect<ReadonlyArray<QueueRow & PageRow>>
    readonly count: (
      workspaceId: AuthorizedWorkspaceId,
      filters: QueueFilters
    ) => Effect.Effect<number>
    /**
     * Updates the queue. Runs that wait because of the old rate wait no longer than the new rate
     * requires.
     */
    readonly update: (queue: StoredQueue) => Effect.Effect<void, Conflict>
    /** Returns whether a task that can still fire uses the queue. */
    readonly isUsed: (workspaceId: AuthorizedWorkspaceId, id: QueueId) => Effect.Effect<boolean>
    readonly remove: (workspaceId: AuthorizedWorkspaceId, id: QueueId) => Effect.Effect<void>
  }
>()("@scheduling/server/tasks/queues/QueuesRepo") {
  static readonly layer: Layer.Layer<QueuesRepo, never, SqlClient.SqlClient> = Layer.effect(
    QueuesRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const publish = publishAfterCommit(sql, yield* LiveChanges)
      const columns = sql`
        id, workspace_id, key, version, name, tags, max_concurrency, rate_per_second, paused,
        created_by, updated_by, created_at, updated_at,
        (
          (
            SELECT count(*)
            FROM runs
            WHERE runs.workspace_id = queues.workspace_id
              AND runs.slot_queue_id = queues.id
          )
          + (SELECT count(*) FROM unnest(held_until) AS held (until) WHERE until > now())
        )::int AS running,
        (${sql.literal(dueCountSql("queues.id", maxCountedRuns))}) AS waiting,
        (
          SELECT first.due_at
          FROM (${sql.literal(firstDueTimeSql("queues.id"))}) AS first
          WHERE first.due_at <= now()
        ) AS waiting_since`

      const findWhere = Effect.fn("QueuesRepo.find")(function* (
        workspaceId: AuthorizedWorkspaceId,
        condition: Statement.Fragment
      ) {
        const rows = yield* sql<QueueRow>`
          SELECT ${columns}
          FROM queues
          WHERE workspace_id = ${workspaceId}
            AND ${condition}`
        return Option.fromNullishOr(rows[0])
      }, Effect.orDie)

      return QueuesRepo.of({
        insert: Effect.fn("QueuesRepo.insert")(
          function* (queue) {
            // The rate is enforced by the database clock, so the time comes from there too.
            yield* sql`
              INSERT INTO queues (
                id, workspace_id, key, version, name, tags, max_concurrency, rate_per_second, paused, next_at,
                created_by, created_at, updated_at
              )
              VALUES (
                ${queue.id}, ${queue.workspace_id}, ${queue.key}, ${queue.version}, ${queue.name},
                ${queue.tags}::text[],
                ${queue.max_concurrency}::integer, ${queue.rate_per_second}::float8, ${queue.paused},
                now(), ${JSON.stringify(queue.created_by)}::jsonb, ${queue.created_at},
                ${queue.updated_at}
              )`
            yield* publish([queue], toLiveChange("queue.created"))
          },
          (insertion, { key }) => failIfKeyTaken("queue", "A queue", key)(insertion),
          Effect.catchTag("SqlError", Effect.die)
        ),

        find: (workspaceId, id) => findWhere(workspaceId, sql`id = ${id}`),

        findByKey: (workspaceId, key) => findWhere(workspaceId, sql`key = ${key}`),

        lock: Effect.fn("QueuesRepo.lock")(function* (workspaceId, id) {
          const rows = yield* sql`
            SELECT id
            FROM queues
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            FOR UPDATE`
          return rows.length > 0
        }, Effect.orDie),

        list: Effect.fn("QueuesRepo.list")(function* (workspaceId, filters, page) {
          return yield* sql<QueueRow & PageRow>`
            SELECT ${columns} ${sql.literal(sortColumn(page))}
            FROM queues
            WHERE workspace_id = ${workspaceId}
              ${matchesFilters(sql, "queues", filters)}
              AND ${isListedAfter(sql, page, "id")}
            ORDER BY ${sql.literal(listOrder(page, "id"))}
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        count: Effect.fn("QueuesRepo.count")(function* (workspaceId, filters) {
          return yield* countRows(
            sql,
            sql`
              SELECT
              FROM queues
              WHERE workspace_id = ${workspaceId}
                ${matchesFilters(sql, "queues", filters)}`
          )
        }, Effect.orDie),

        update: Effect.fn("QueuesRepo.update")(
          function* ({ id, workspace_id, ...queue }) {
            const updated = yield* sql<ChangedQueue>`
            UPDATE queues
            SET
              key = ${queue.key},
              version = ${queue.version},
              name = ${queue.name},
              tags = ${queue.tags}::text[],
              max_concurrency = ${queue.max_concurrency}::integer,
              rate_per_second = ${queue.rate_per_second}::float8,
              paused = ${queue.paused},
              next_at = least(
                next_at,
                now() + interval '1 second' / ${queue.rate_per_second}::float8
              ),
              updated_by = ${JSON.stringify(queue.updated_by)}::jsonb,
              updated_at = ${queue.updated_at}
            WHERE workspace_id = ${workspace_id}
              AND id = ${id}
            RETURNING id, workspace_id`
            yield* publish(updated, toLiveChange("queue.updated"))
          },
          (change, { key }) => failIfKeyTaken("queue", "A queue", key)(change),
          Effect.catchTag("SqlError", Effect.die)
        ),

        isUsed: Effect.fn("QueuesRepo.isUsed")(function* (workspaceId, id) {
          const rows = yield* sql`
            SELECT id
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND queue_id = ${id}
              AND status IN ('active', 'paused', 'pending')
            LIMIT 1`
          return rows.length > 0
        }, Effect.orDie),

        remove: Effect.fn("QueuesRepo.remove")(function* (workspaceId, id) {
          const removed = yield* sql<ChangedQueue>`
            DELETE FROM queues
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            RETURNING id, workspace_id`
          yield* publish(removed, toLiveChange("queue.deleted"))
        }, Effect.orDie)
      })
    })
  )
}
