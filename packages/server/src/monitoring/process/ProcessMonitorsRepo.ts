import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { findNextCheck, type MonitorReads, monitorReads } from "../MonitorReads.ts"
import { monitorColumns } from "../MonitorsRepo.ts"
import type { ProcessState } from "./decideProcess.ts"
import type { ProcessRow, ProcessSettings, WatchedRow } from "./ProcessRow.ts"

const own = `
  p.worker_id, p.labels, p.judge, p.match, p.min_count, p.max_count,
  p.max_rss_bytes::float8 AS max_rss_bytes, p.max_cpu_percent, p.interval_seconds, p.grace_seconds,
  p.since, p.failing_since, p.failing, p.check_at`

/** Of `process_monitors AS p` and `monitors AS m`. */
export const watchedColumns = `p.monitor_id, p.workspace_id, m.key, m.status, ${own}`

interface Place {
  readonly monitor_id: string
  readonly workspace_id: AuthorizedWorkspaceId
}

export class ProcessMonitorsRepo extends Context.Service<
  ProcessMonitorsRepo,
  MonitorReads<ProcessRow> & {
    readonly insert: (
      monitor: ProcessSettings & Place & { readonly since: Date; readonly check_at: Date }
    ) => Effect.Effect<void>
    /** Locks it, with the row of its status. */
    readonly findForUpdate: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<WatchedRow>>
    /** Locks those of these that are not paused. */
    readonly findManyForUpdate: (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<WatchedRow>>
    /** Locks some whose time is up. */
    readonly findDueForUpdate: (
      now: Date,
      limit: number
    ) => Effect.Effect<ReadonlyArray<WatchedRow>>
    readonly findNextCheck: Effect.Effect<Date | undefined>
    readonly updateDecided: (
      row: Place,
      state: Pick<ProcessState, "failing">,
      checkAt: Date | null
    ) => Effect.Effect<void>
    readonly updateSettings: (row: Place, settings: ProcessSettings) => Effect.Effect<void>
    /** Nothing is known of it any more. Null: it is not watched. */
    readonly updateSince: (row: Place, since: Date, checkAt: Date | null) => Effect.Effect<void>
    /** Has these judged now, if they are watched. */
    readonly updateDue: (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>,
      now: Date
    ) => Effect.Effect<void>
    readonly hasWorker: (
      workspaceId: AuthorizedWorkspaceId,
      workerId: string
    ) => Effect.Effect<boolean>
  }
>()("@scheduling/server/monitoring/process/ProcessMonitorsRepo") {
  static readonly layer: Layer.Layer<ProcessMonitorsRepo, never, SqlClient.SqlClient> =
    Layer.effect(
      ProcessMonitorsRepo,
      Effect.map(SqlClient.SqlClient, (sql) => {
        const watched = sql.literal(watchedColumns)
        const joined = sql.literal(`
          FROM process_monitors AS p
          JOIN monitors AS m ON m.id = p.monitor_id`)
        const listed = (now: Date) => sql`
          ${monitorColumns(sql, now)}, ${sql.literal(own)},
          latest.reported_at, latest.report, latest.worker_id AS reported_by
          ${joined}
          LEFT JOIN heartbeats AS h ON h.monitor_id = m.id
          LEFT JOIN LATERAL (
            SELECT reported_at, report, worker_id
            FROM process_reports
            WHERE process_reports.workspace_id = p.workspace_id
              AND process_reports.monitor_id = p.monitor_id
            ORDER BY reported_at DESC
            LIMIT 1
          ) AS latest ON true`
        const is = ({ monitor_id, workspace_id }: Place) => sql`
          workspace_id = ${workspace_id}
          AND monitor_id = ${monitor_id}`

        return ProcessMonitorsRepo.of({
          insert: Effect.fn("ProcessMonitorsRepo.insert")(function* (monitor) {
            yield* sql`
              INSERT INTO process_monitors (
                monitor_id, workspace_id, worker_id, labels, judge, match, min_count, max_count,
                max_rss_bytes, max_cpu_percent, interval_seconds, grace_seconds, since, check_at
              )
              VALUES (
                ${monitor.monitor_id}, ${monitor.workspace_id}, ${monitor.worker_id},
                ${monitor.labels}::text[], ${monitor.judge}, ${JSON.stringify(monitor.match)}::jsonb,
                ${monitor.min_count}, ${monitor.max_count}, ${monitor.max_rss_bytes},
                ${monitor.max_cpu_percent}::float8, ${monitor.interval_seconds},
                ${monitor.grace_seconds}, ${monitor.since}, ${monitor.check_at}
              )`
          }, Effect.orDie),

          ...monitorReads<ProcessRow>(sql, "process", listed),

          findForUpdate: Effect.fn("ProcessMonitorsRepo.findForUpdate")(function* (
            workspaceId,
            id
          ) {
            const rows = yield* sql<WatchedRow>`
              SELECT ${watched}
              ${joined}
              WHERE p.workspace_id = ${workspaceId}
                AND p.monitor_id = ${id}
              FOR UPDATE OF p, m`
            return Option.fromNullishOr(rows[0])
          }, Effect.orDie),

          findManyForUpdate: Effect.fn("ProcessMonitorsRepo.findManyForUpdate")(function* (
            workspaceId,
            ids
          ) {
            return yield* sql<WatchedRow>`
              SELECT ${watched}
              ${joined}
              WHERE p.workspace_id = ${workspaceId}
                AND p.monitor_id = ANY (${ids}::uuid[])
                AND m.status <> 'paused'
              ORDER BY p.monitor_id
              FOR UPDATE OF p, m`
          }, Effect.orDie),

          findDueForUpdate: Effect.fn("ProcessMonitorsRepo.findDueForUpdate")(function* (
            now,
            limit
          ) {
            return yield* sql<WatchedRow>`
              SELECT ${watched}
              ${joined}
              WHERE p.check_at <= ${now}
              ORDER BY p.check_at
              LIMIT ${limit}
              FOR UPDATE OF p, m SKIP LOCKED`
          }, Effect.orDie),

          findNextCheck: findNextCheck(sql, "process_monitors"),

          updateDecided: Effect.fn("ProcessMonitorsRepo.updateDecided")(function* (
            row,
            { failing },
            checkAt
          ) {
            yield* sql`
                UPDATE process_monitors
                SET
                  failing_since = ${failing === null ? null : new Date(failing.sinceMs)},
                  failing = ${failing === null ? null : JSON.stringify(failing.cause)}::jsonb,
                  check_at = ${checkAt}
                WHERE ${is(row)}`
          }, Effect.orDie),

          updateSettings: Effect.fn("ProcessMonitorsRepo.updateSettings")(function* (
            row,
            settings
          ) {
            yield* sql`
                UPDATE process_monitors
                SET
                  worker_id = ${settings.worker_id},
                  labels = ${settings.labels}::text[],
                  judge = ${settings.judge},
                  match = ${JSON.stringify(settings.match)}::jsonb,
                  min_count = ${settings.min_count},
                  max_count = ${settings.max_count},
                  max_rss_bytes = ${settings.max_rss_bytes},
                  max_cpu_percent = ${settings.max_cpu_percent}::float8,
                  interval_seconds = ${settings.interval_seconds},
                  grace_seconds = ${settings.grace_seconds}
                WHERE ${is(row)}`
          }, Effect.orDie),

          updateSince: Effect.fn("ProcessMonitorsRepo.updateSince")(function* (
            row,
            since,
            checkAt
          ) {
            yield* sql`
              UPDATE process_monitors
              SET since = ${since}, check_at = ${checkAt}, failing_since = NULL, failing = NULL
              WHERE ${is(row)}`
          }, Effect.orDie),

          updateDue: Effect.fn("ProcessMonitorsRepo.updateDue")(function* (workspaceId, ids, now) {
            yield* sql`
              UPDATE process_monitors
              SET check_at = ${now}
              FROM (
                SELECT p.monitor_id
                ${joined}
                WHERE p.workspace_id = ${workspaceId}
                  AND p.monitor_id = ANY (${ids}::uuid[])
                  AND (p.check_at IS NULL OR p.check_at > ${now})
                  AND m.status <> 'paused'
                ORDER BY p.monitor_id
                FOR UPDATE OF p
              ) AS due
              WHERE process_monitors.workspace_id = ${workspaceId}
                AND process_monitors.monitor_id = due.monitor_id`
          }, Effect.orDie),

          hasWorker: Effect.fn("ProcessMonitorsRepo.hasWorker")(function* (workspaceId, workerId) {
            const rows = yield* sql`
              SELECT id
              FROM workers
              WHERE workspace_id = ${workspaceId}
                AND id = ${workerId}
              FOR KEY SHARE`
            return rows.length > 0
          }, Effect.orDie)
        })
      })
    )
}
