import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { DelayedTask, DelayedTaskStatus } from "@scheduling/domain/delayed/DelayedTask"
import type { Callbacks } from "@scheduling/domain/calls/Callbacks"
import type { CallOptions } from "@scheduling/domain/calls/CallOptions"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { timestampOf } from "../../store/index.ts"
import {
  joinLastRun,
  lastRunColumns,
  type LastRunRow,
  recentIds,
  toLastRun,
  withOlderLastRuns
} from "../LastRunRepo.ts"
import { havingKey, havingName, type TaskListing } from "../listing.ts"
import { pageBytes, withinPage } from "../pageBytes.ts"
import { type TasksRepo, tasksRepo } from "../TasksRepo.ts"

/**
 * A row as it is stored. Its status is never `running`: that is derived from `run_at` and the
 * queue.
 */
export interface DelayedTaskRow extends Omit<
  DelayedTask,
  | keyof CallOptions
  | keyof Callbacks
  | "workspace_id"
  | "status"
  | "run_at"
  | "last_run"
  | "created_at"
  | "updated_at"
> {
  readonly workspace_id: AuthorizedWorkspaceId
  readonly call_options: CallOptions | null
  readonly ending_options: Callbacks | null
  readonly status: Exclude<DelayedTaskStatus, "running">
  readonly run_at: Date
  readonly created_at: Date
  readonly updated_at: Date
}

export type ListedDelayedTask = Omit<DelayedTaskRow, "status"> &
  LastRunRow & { readonly status: DelayedTaskStatus }

interface DelayedTaskListing extends TaskListing<DelayedTaskStatus> {
  readonly now: Date
}

export const toDelayedTask = (row: ListedDelayedTask): DelayedTask => ({
  id: row.id,
  workspace_id: row.workspace_id,
  key: row.key,
  name: row.name,
  url: row.url,
  method: row.method,
  headers: row.headers,
  body: row.body,
  timeout_seconds: row.timeout_seconds,
  retry_count: row.retry_count,
  ...row.call_options,
  run_on: row.run_on,
  worker_wait_seconds: row.worker_wait_seconds,
  queue_id: row.queue_id,
  ...row.ending_options,
  status: row.status,
  run_at: timestampOf(row.run_at),
  // The run of a pending task is in the queue already, but nothing has happened yet.
  last_run: row.status === "pending" ? null : toLastRun(row),
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})

export class DelayedTasksRepo extends Context.Service<
  DelayedTasksRepo,
  Omit<TasksRepo<DelayedTaskRow>, "insert" | "remove"> & {
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ListedDelayedTask>>
    readonly findByKey: (
      workspaceId: AuthorizedWorkspaceId,
      key: string
    ) => Effect.Effect<Option.Option<ListedDelayedTask>>
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      listing: DelayedTaskListing
    ) => Effect.Effect<ReadonlyArray<ListedDelayedTask>>
  }
>()("@scheduling/server/tasks/delayed/DelayedTasksRepo") {
  static readonly layer: Layer.Layer<DelayedTasksRepo, never, SqlClient.SqlClient> = Layer.effect(
    DelayedTasksRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const shown = sql.literal(
        columnNames
          .filter((name) => name !== "status")
          .map((name) => `t.${name}`)
          .join(", ")
      )
      const lastRun = lastRunColumns(sql)

      const statusAt = (now: Date) => sql`
        CASE
          WHEN t.status = 'pending' AND t.run_at <= ${now} THEN 'running'
          WHEN t.status = 'finished' AND last_run.finished_at IS NULL AND last_run.id IS NOT NULL
            THEN 'running'
          ELSE t.status
        END`

      const withLastRuns = (rows: ReadonlyArray<ListedDelayedTask>, now: Date) =>
        withOlderLastRuns(sql, rows, recentIds(now), (row) => row.status === "finished")

      /** A finished task that somebody has started once more and that has not ended. */
      const runsAgain = sql`
        EXISTS (
          SELECT
          FROM runs
          WHERE runs.task_id = t.id
            AND runs.workspace_id = t.workspace_id
        )`

      const havingStatus = (
        workspaceId: AuthorizedWorkspaceId,
        status: DelayedTaskStatus,
        now: Date
      ) => {
        switch (status) {
          case "pending":
            return sql`AND t.status = 'pending' AND t.run_at > ${now}`
          case "running":
            // The queue is read once, and not for each task that has ever finished.
            return sql`AND (
              (t.status = 'pending' AND t.run_at <= ${now})
              OR (t.status = 'finished' AND t.id IN (
                SELECT task_id
                FROM runs
                WHERE workspace_id = ${workspaceId}
                  AND kind = 'delayed'
                  AND scheduled_for <= now()
              ))
            )`
          case "finished":
            return sql`AND t.status = 'finished' AND NOT ${runsAgain}`
          case "cancelled":
            return sql`AND t.status = 'cancelled'`
        }
      }

      const findWhere = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        condition: Statement.Fragment
      ) {
        const now = yield* DateTime.nowAsDate
        const rows = yield* sql<ListedDelayedTask>`
          SELECT ${shown}, ${statusAt(now)} AS status, ${lastRun}
          FROM tasks AS t
          ${joinLastRun(sql, recentIds(now))}
          WHERE t.workspace_id = ${workspaceId}
            AND t.kind = 'delayed'
            AND ${condition}`
        return Option.fromNullishOr((yield* withLastRuns(rows, now))[0])
      }, Effect.orDie)

      return DelayedTasksRepo.of({
        ...(yield* tasksRepo<DelayedTaskRow>(sql, {
          kind: "delayed",
          columns: columnNames
        })),

        find: (workspaceId, id) => findWhere(workspaceId, sql`t.id = ${id}`),

        findByKey: (workspaceId, key) => findWhere(workspaceId, sql`t.key = ${key}`),

        list: Effect.fnUntraced(function* (workspaceId, { key, name, now, page, status }) {
          const rows = yield* sql<ListedDelayedTask>`
            SELECT t.*
            FROM (
              SELECT ${shown}, ${statusAt(now)} AS status, ${lastRun}, ${pageBytes(sql)}
              FROM tasks AS t
              ${joinLastRun(sql, recentIds(now))}
              WHERE t.workspace_id = ${workspaceId}
                AND t.kind = 'delayed'
                AND t.id < ${page.before}
                ${status === undefined ? sql.literal("") : havingStatus(workspaceId, status, now)}
                ${havingName(sql, name)}
                ${havingKey(sql, key)}
              ORDER BY t.id DESC
              LIMIT ${page.limit + 1}
            ) AS t
            WHERE ${withinPage(sql)}
            ORDER BY t.id DESC`
          return yield* withLastRuns(rows, now)
        }, Effect.orDie)
      })
    })
  )
}

const columnNames = [
  "id",
  "workspace_id",
  "key",
  "name",
  "method",
  "url",
  "headers",
  "body",
  "timeout_seconds",
  "retry_count",
  "call_options",
  "ending_options",
  "run_on",
  "worker_wait_seconds",
  "queue_id",
  "status",
  "run_at",
  "created_at",
  "updated_at"
] satisfies ReadonlyArray<keyof DelayedTaskRow>
