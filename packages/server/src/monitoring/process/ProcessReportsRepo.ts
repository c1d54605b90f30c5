import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ProcessReport } from "@scheduling/domain/monitors/process/ProcessMonitor"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import { type OngoingFailure, type ProcessReportSummary, silentAfterMs } from "./decideProcess.ts"
import { selectedMonitorColumns } from "../MonitorTable.ts"
import { type ProcessRow, processTable, type RowWithPreviousReport } from "./ProcessRow.ts"

interface Worker {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
}

export interface NewProcessReport {
  readonly row: Pick<ProcessRow, "monitor_id" | "since">
  readonly report: ProcessReport
  readonly failing: OngoingFailure | null
}

interface SummaryRow {
  readonly monitor_id: string
  readonly reported_at: Date
  readonly workers: number
  readonly count: number
  readonly rss_bytes: number
  readonly cpu_percent: number | null
  readonly refused: NonNullable<ProcessReport["refused"]> | null
  readonly failing: OngoingFailure | null
}

export class ProcessReportsRepo extends Context.Service<
  ProcessReportsRepo,
  {
    readonly findReported: (
      worker: Worker,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<RowWithPreviousReport>>
    /**
     * Writes the reports, except those about monitors whose rules have changed since `row` was
     * read.
     */
    readonly upsert: (
      worker: Worker,
      reports: ReadonlyArray<NewProcessReport>,
      at: Date
    ) => Effect.Effect<void>
    /**
     * Summarizes the reports about each monitor. A monitor with labels counts only workers that are
     * online.
     */
    readonly summarize: (
      rows: ReadonlyArray<ProcessRow>,
      at: Date
    ) => Effect.Effect<ReadonlyMap<string, ProcessReportSummary>>
  }
>()("@scheduling/server/monitoring/process/ProcessReportsRepo") {
  static readonly layer: Layer.Layer<ProcessReportsRepo, never, SqlClient.SqlClient> = Layer.effect(
    ProcessReportsRepo,
    Effect.map(SqlClient.SqlClient, (sql) =>
      ProcessReportsRepo.of({
        findReported: Effect.fn("ProcessReportsRepo.findReported")(function* (worker, ids) {
          return yield* sql<RowWithPreviousReport>`
            SELECT
              ${sql.literal(selectedMonitorColumns(processTable))}, w.name AS worker_name,
              r.reported_at AS before_at, r.failing_since AS before_failing_since,
              r.failing AS before_failing
            FROM workers AS w
            JOIN process_monitors AS k
              ON k.workspace_id = w.workspace_id
              AND (k.worker_id = w.id OR k.labels <@ w.labels)
            JOIN monitors AS m ON m.id = k.monitor_id
            LEFT JOIN process_reports AS r
              ON r.monitor_id = k.monitor_id
              AND r.worker_id = w.id
              AND r.reported_at >= k.since
            WHERE w.workspace_id = ${worker.workspace_id}
              AND w.id = ${worker.id}
              AND k.monitor_id = ANY (${ids}::uuid[])
              AND m.status <> 'paused'
            ORDER BY k.monitor_id`
        }, Effect.orDie),

        upsert: Effect.fn("ProcessReportsRepo.upsert")(function* (worker, reports, at) {
          const column = columnsOf(reports)
          yield* sql`
            INSERT INTO process_reports (
              monitor_id, worker_id, workspace_id, reported_at, report, failing_since, failing
            )
            SELECT
              p.monitor_id, ${worker.id}, p.workspace_id, ${at}, seen.report::jsonb,
              seen.failing_since, seen.failing::jsonb
            FROM unnest(
              ${column("uuid", ({ row }) => row.monitor_id)},
              ${column("timestamptz", ({ row }) => row.since)},
              ${column("text", ({ report }) => JSON.stringify(report))},
              ${column("timestamptz", ({ failing }) =>
                failing === null ? null : new Date(failing.sinceMs)
              )},
              ${column("text", ({ failing }) =>
                failing === null ? null : JSON.stringify(failing.cause)
              )}
            ) AS seen (monitor_id, since, report, failing_since, failing)
            JOIN process_monitors AS p
              ON p.workspace_id = ${worker.workspace_id}
              AND p.monitor_id = seen.monitor_id
              AND p.since = seen.since
            ORDER BY p.monitor_id
            ON CONFLICT (monitor_id, worker_id) DO UPDATE
            SET
              reported_at = excluded.reported_at,
              report = excluded.report,
              failing_since = excluded.failing_since,
              failing = excluded.failing`
        }, Effect.orDie),

        summarize: Effect.fn("ProcessReportsRepo.summarize")(function* (rows, at) {
          const column = columnsOf(rows)
          const summaries = yield* sql<SummaryRow>`
            SELECT
              p.monitor_id,
              max(r.reported_at) AS reported_at,
              (count(*) FILTER (WHERE r.counts))::int AS workers,
              coalesce(sum((r.report ->> 'count')::float8) FILTER (WHERE r.counts), 0) AS count,
              coalesce(sum((r.report ->> 'rss_bytes')::float8) FILTER (WHERE r.counts), 0)
                AS rss_bytes,
              sum((r.report ->> 'cpu_percent')::float8) FILTER (WHERE r.counts) AS cpu_percent,
              max(r.report ->> 'refused') FILTER (WHERE r.counts) AS refused,
              (
                array_agg(
                  json_build_object(
                    'sinceMs', date_part('epoch', r.failing_since) * 1000,
                    'cause', r.failing
                  )
                  ORDER BY r.failing_since
                ) FILTER (WHERE r.counts AND r.failing_since IS NOT NULL)
              )[1] AS failing
            FROM unnest(
              ${column("uuid", ({ monitor_id }) => monitor_id)},
              ${column("timestamptz", (row) => new Date(at.getTime() - silentAfterMs(row)))}
            ) AS asked (monitor_id, reported_after)
            JOIN process_monitors AS p ON p.monitor_id = asked.monitor_id
            CROSS JOIN LATERAL (
              SELECT
                r.*,
                p.worker_id IS NOT NULL
                  OR (s.id IS NOT NULL AND r.reported_at > asked.reported_after) AS counts
              FROM process_reports AS r
              JOIN workers AS w ON w.id = r.worker_id
              LEFT JOIN nodes AS s
                ON s.id = w.node_id
                AND s.died_at IS NULL
                AND s.lease_until > now()
              WHERE r.workspace_id = p.workspace_id
                AND r.monitor_id = p.monitor_id
                AND r.reported_at >= p.since
                AND (p.worker_id = w.id OR p.labels <@ w.labels)
            ) AS r
            GROUP BY p.monitor_id`
          return new Map(summaries.map((row) => [row.monitor_id, toSummary(row)]))
        }, Effect.orDie)
      })
    )
  )
}

const toSummary = ({
  count,
  cpu_percent,
  failing,
  reported_at,
  refused,
  rss_bytes,
  workers
}: SummaryRow): ProcessReportSummary => ({
  atMs: reported_at.getTime(),
  total: workers === 0 ? null : { count, rss_bytes, cpu_percent, ...(refused && { refused }) },
  failing
})
