import type { DelayedTask, DelayedTaskStatus } from "@scheduling/domain/delayed/DelayedTask"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import type { WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { PageRequest } from "../platform/Pages.ts"
import { timestampOf } from "../platform/timestamp.ts"
import {
  joinLastRun,
  lastRunColumns,
  type LastRunRow,
  recentIds,
  toLastRun,
  withOlderLastRuns
} from "../tasks/LastRunRepo.ts"
import { havingName } from "../tasks/havingName.ts"
import { intoWorkspace } from "../tasks/intoWorkspace.ts"
import { pageBytes, withinPage } from "../tasks/pageBytes.ts"

/** A row as it is kept. It never says `running`: that is what `run_at` and the queue tell. */
export interface DelayedTaskRow extends Omit<
  DelayedTask,
  "status" | "run_at" | "last_run" | "created_at" | "updated_at"
> {
  readonly status: Exclude<DelayedTaskStatus, "running">
  readonly run_at: Date
  readonly created_at: Date
  readonly updated_at: Date
}

export type ListedDelayedTask = Omit<DelayedTaskRow, "status"> &
  LastRunRow & { readonly status: DelayedTaskStatus }

export interface DelayedTaskListing {
  readonly status?: DelayedTaskStatus
  readonly name?: string
  readonly page: PageRequest
  readonly now: Date
}

export const toDelayedTask = (row: ListedDelayedTask): DelayedTask => ({
  id: row.id,
  workspace_id: row.workspace_id,
  name: row.name,
  url: row.url,
  method: row.method,
  headers: row.headers,
  body: row.body,
  timeout_seconds: row.timeout_seconds,
  retry_count: row.retry_count,
  status: row.status,
  run_at: timestampOf(row.run_at),
  // The run of a pending task is in the queue already, but nothing has happened yet.
  last_run: row.status === "pending" ? null : toLastRun(row),
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})

export class DelayedTasksRepo extends Context.Service<
  DelayedTasksRepo,
  {
    readonly insert: (task: DelayedTaskRow) => Effect.Effect<void, NotFound>
    readonly find: (
      workspaceId: WorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ListedDelayedTask>>
    /** Locks the row until the commit. */
    readonly findForUpdate: (
      workspaceId: WorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<DelayedTaskRow>>
    readonly list: (
      workspaceId: WorkspaceId,
      listing: DelayedTaskListing
    ) => Effect.Effect<ReadonlyArray<ListedDelayedTask>>
    /** Locks the workspace's row first: two creates at once cannot both take the last place. */
    readonly countPending: (workspaceId: WorkspaceId) => Effect.Effect<number>
    readonly update: (task: DelayedTaskRow) => Effect.Effect<void>
  }
>()("@scheduling/server/delayed/DelayedTasksRepo") {
  static readonly layer: Layer.Layer<DelayedTasksRepo, never, SqlClient.SqlClient> = Layer.effect(
    DelayedTasksRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(columnNames.map((name) => `t.${name}`).join(", "))
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

      /** A finished task that was asked to run once more, and has not ended. */
      const runsAgain = sql`
        EXISTS (
          SELECT
          FROM runs
          WHERE runs.task_id = t.id
            AND runs.workspace_id = t.workspace_id
        )`

      const havingStatus = (workspaceId: WorkspaceId, status: DelayedTaskStatus, now: Date) => {
        switch (status) {
          case "pending":
            return sql`AND t.status = 'pending' AND t.run_at > ${now}`
          case "running":
            // The queue is asked once and not for each task that has ever finished.
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

      return DelayedTasksRepo.of({
        insert: Effect.fn("DelayedTasksRepo.insert")(function* (task) {
          yield* sql`
            INSERT INTO tasks
            ${sql.insert({ ...task, kind: "delayed", headers: JSON.stringify(task.headers) })}`
        }, intoWorkspace),

        find: Effect.fn("DelayedTasksRepo.find")(function* (workspaceId, id) {
          const now = yield* DateTime.nowAsDate
          const rows = yield* sql<ListedDelayedTask>`
            SELECT ${shown}, ${statusAt(now)} AS status, ${lastRun}
            FROM tasks AS t
            ${joinLastRun(sql, recentIds(now))}
            WHERE t.workspace_id = ${workspaceId}
              AND t.kind = 'delayed'
              AND t.id = ${id}`
          return Option.fromNullishOr((yield* withLastRuns(rows, now))[0])
        }, Effect.orDie),

        findForUpdate: Effect.fn("DelayedTasksRepo.findForUpdate")(function* (workspaceId, id) {
          const rows = yield* sql<DelayedTaskRow>`
            SELECT ${columns}
            FROM tasks AS t
            WHERE t.workspace_id = ${workspaceId}
              AND t.kind = 'delayed'
              AND t.id = ${id}
            FOR UPDATE`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        list: Effect.fnUntraced(function* (workspaceId, { name, now, page, status }) {
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
              ORDER BY t.id DESC
              LIMIT ${page.limit + 1}
            ) AS t
            WHERE ${withinPage(sql)}
            ORDER BY t.id DESC`
          return yield* withLastRuns(rows, now)
        }, Effect.orDie),

        countPending: Effect.fn("DelayedTasksRepo.countPending")(function* (workspaceId) {
          yield* sql`
            SELECT id
            FROM workspaces
            WHERE id = ${workspaceId}
            FOR NO KEY UPDATE`
          const [row] = yield* sql<{ readonly pending: number }>`
            SELECT count(*)::int AS pending
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = 'delayed'
              AND status = 'pending'`
          return row?.pending ?? 0
        }, Effect.orDie),

        update: Effect.fn("DelayedTasksRepo.update")(function* ({ id, workspace_id, ...task }) {
          yield* sql`
            UPDATE tasks
            SET ${sql.update({ ...task, headers: JSON.stringify(task.headers) })}
            WHERE workspace_id = ${workspace_id}
              AND kind = 'delayed'
              AND id = ${id}`
        }, Effect.orDie)
      })
    })
  )
}

const columnNames = [
  "id",
  "workspace_id",
  "name",
  "method",
  "url",
  "headers",
  "body",
  "timeout_seconds",
  "retry_count",
  "status",
  "run_at",
  "created_at",
  "updated_at"
] satisfies ReadonlyArray<keyof DelayedTaskRow>
