import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { MonitorFilters } from "@scheduling/domain/monitors/Monitor"
import type { ProcessReport } from "@scheduling/domain/monitors/process/ProcessMonitor"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { PageRequest } from "../../sql/Pages.ts"
import { asFiltered, monitorColumns } from "../MonitorsRepo.ts"
import type { ProcessState } from "./decideProcess.ts"
import type { ProcessRow, ProcessSettings, WatchedRow } from "./ProcessRow.ts"

interface Place {
  readonly monitor_id: string
  readonly workspace_id: AuthorizedWorkspaceId
}

export class ProcessMonitorsRepo extends Context.Service<
  ProcessMonitorsRepo,
  {
    readonly insert: (
      monitor: ProcessSettings & Place & { readonly check_at: Date }
    ) => Effect.Effect<void>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      now: Date
    ) => Effect.Effect<Option.Option<ProcessRow>>
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      filters: MonitorFilters,
      page: PageRequest,
      now: Date
    ) => Effect.Effect<ReadonlyArray<ProcessRow>>
    /** Locks it, with the row of its status. */
    readonly claim: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<WatchedRow>>
    /** Locks those of the worker that are among these and are not paused. */
    readonly claimReported: (
      worker: { readonly id: string; readonly workspace_id: AuthorizedWorkspaceId },
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<WatchedRow>>
    /** Locks some whose time is up. */
    readonly claimDue: (now: Date, limit: number) => Effect.Effect<ReadonlyArray<WatchedRow>>
    readonly findNextCheck: Effect.Effect<Date | undefined>
    readonly updateDecided: (
      row: Place,
      state: ProcessState,
      checkAt: Date | null,
      reported: { readonly at: Date; readonly report: ProcessReport } | null
    ) => Effect.Effect<void>
    readonly updateSettings: (row: Place, settings: ProcessSettings) => Effect.Effect<void>
    /** Nothing is known of it any more. */
    readonly updateCheck: (row: Place, checkAt: Date | null) => Effect.Effect<void>
    readonly hasWorker: (
      workspaceId: AuthorizedWorkspaceId,
      workerId: string
    ) => Effect.Effect<boolean>
  }
>()("@scheduling/server/monitors/process/ProcessMonitorsRepo") {
  static readonly layer: Layer.Layer<ProcessMonitorsRepo, never, SqlClient.SqlClient> =
    Layer.effect(
      ProcessMonitorsRepo,
      Effect.map(SqlClient.SqlClient, (sql) => {
        const own = `
          p.worker_id, p.match, p.min_count, p.max_count, p.max_rss_bytes::float8 AS max_rss_bytes,
          p.max_cpu_percent, p.interval_seconds, p.grace_seconds, p.reported_at, p.report,
          p.failing_since, p.failing, p.check_at`
        const watched = sql.literal(`p.monitor_id, p.workspace_id, m.status, ${own}`)
        const joined = sql.literal(`
          FROM process_monitors AS p
          JOIN monitors AS m ON m.id = p.monitor_id`)
        const listed = (now: Date) => sql`
          ${monitorColumns(sql, now)}, ${sql.literal(own)}
          ${joined}
          LEFT JOIN heartbeats AS h ON h.monitor_id = m.id`
        const is = ({ monitor_id, workspace_id }: Place) => sql`
          workspace_id = ${workspace_id}
          AND monitor_id = ${monitor_id}`

        return ProcessMonitorsRepo.of({
          insert: Effect.fn("ProcessMonitorsRepo.insert")(function* (monitor) {
            yield* sql`
              INSERT INTO process_monitors (
                monitor_id, workspace_id, worker_id, match, min_count, max_count, max_rss_bytes,
                max_cpu_percent, interval_seconds, grace_seconds, check_at
              )
              VALUES (
                ${monitor.monitor_id}, ${monitor.workspace_id}, ${monitor.worker_id},
                ${JSON.stringify(monitor.match)}::jsonb, ${monitor.min_count},
                ${monitor.max_count}, ${monitor.max_rss_bytes}, ${monitor.max_cpu_percent}::float8,
                ${monitor.interval_seconds}, ${monitor.grace_seconds}, ${monitor.check_at}
              )`
          }, Effect.orDie),

          find: Effect.fn("ProcessMonitorsRepo.find")(function* (workspaceId, id, now) {
            const rows = yield* sql<ProcessRow>`
              SELECT ${listed(now)}
              WHERE m.workspace_id = ${workspaceId}
                AND m.id = ${id}`
            return Option.fromNullishOr(rows[0])
          }, Effect.orDie),

          list: Effect.fn("ProcessMonitorsRepo.list")(function* (workspaceId, filters, page, now) {
            return yield* sql<ProcessRow>`
              SELECT ${listed(now)}
              WHERE m.workspace_id = ${workspaceId}
                AND m.kind = 'process'
                AND m.id < ${page.before}
                ${asFiltered(sql, filters, now)}
              ORDER BY m.id DESC
              LIMIT ${page.limit + 1}`
          }, Effect.orDie),

          claim: Effect.fn("ProcessMonitorsRepo.claim")(function* (workspaceId, id) {
            const rows = yield* sql<WatchedRow>`
              SELECT ${watched}
              ${joined}
              WHERE p.workspace_id = ${workspaceId}
                AND p.monitor_id = ${id}
              FOR UPDATE OF p, m`
            return Option.fromNullishOr(rows[0])
          }, Effect.orDie),

          claimReported: Effect.fn("ProcessMonitorsRepo.claimReported")(function* (worker, ids) {
            return yield* sql<WatchedRow>`
              SELECT ${watched}
              ${joined}
              WHERE p.workspace_id = ${worker.workspace_id}
                AND p.worker_id = ${worker.id}
                AND m.status <> 'paused'
                AND p.monitor_id = ANY (${ids}::uuid[])
              ORDER BY p.monitor_id
              FOR UPDATE OF p, m`
          }, Effect.orDie),

          claimDue: Effect.fn("ProcessMonitorsRepo.claimDue")(function* (now, limit) {
            return yield* sql<WatchedRow>`
              SELECT ${watched}
              ${joined}
              WHERE p.check_at <= ${now}
              ORDER BY p.check_at
              LIMIT ${limit}
              FOR UPDATE OF p, m SKIP LOCKED`
          }, Effect.orDie),

          findNextCheck: sql<{ readonly check_at: Date | null }>`
            SELECT min(check_at) AS check_at
            FROM process_monitors
            WHERE check_at IS NOT NULL`.pipe(
            Effect.map(([row]) => row?.check_at ?? undefined),
            Effect.orDie,
            Effect.withSpan("ProcessMonitorsRepo.findNextCheck")
          ),

          updateDecided: Effect.fn("ProcessMonitorsRepo.updateDecided")(function* (
            row,
            { failing },
            checkAt,
            reported
          ) {
            yield* sql`
                UPDATE process_monitors
                SET
                  failing_since = ${failing === null ? null : new Date(failing.sinceMs)},
                  failing = ${failing === null ? null : JSON.stringify(failing.cause)}::jsonb,
                  check_at = ${checkAt},
                  reported_at = coalesce(${reported?.at ?? null}::timestamptz, reported_at),
                  report = coalesce(
                    ${reported === null ? null : JSON.stringify(reported.report)}::jsonb,
                    report
                  )
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
                  match = ${JSON.stringify(settings.match)}::jsonb,
                  min_count = ${settings.min_count},
                  max_count = ${settings.max_count},
                  max_rss_bytes = ${settings.max_rss_bytes},
                  max_cpu_percent = ${settings.max_cpu_percent}::float8,
                  interval_seconds = ${settings.interval_seconds},
                  grace_seconds = ${settings.grace_seconds},
                  failing_since = NULL,
                  failing = NULL
                WHERE ${is(row)}`
          }, Effect.orDie),

          updateCheck: Effect.fn("ProcessMonitorsRepo.updateCheck")(function* (row, checkAt) {
            yield* sql`
              UPDATE process_monitors
              SET check_at = ${checkAt}, failing_since = NULL, failing = NULL
              WHERE ${is(row)}`
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
