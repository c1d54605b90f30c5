import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type {
  ProcessMatch,
  ProcessMonitor,
  ProcessReport
} from "@scheduling/domain/monitors/process/ProcessMonitor"
import { WorkerId } from "@scheduling/domain/shared/Ids"
import { timestampOf } from "../../store/index.ts"
import { type KindRow, type MonitorTable, toMonitorFields } from "../MonitorTable.ts"
import type { OngoingFailure, ProcessRules, ProcessState } from "./decideProcess.ts"

interface FailingColumns {
  readonly failing_since: Date | null
  readonly failing: IncidentCause | null
}

/**
 * The columns of a process monitor. It watches either one worker (`worker_id`) or all workers with
 * `labels`; the other column is null.
 */
export interface ProcessColumns extends ProcessRules, FailingColumns {
  readonly labels: ReadonlyArray<string> | null
  readonly match: ProcessMatch
  readonly since: Date
  readonly check_at: Date | null
}

export interface ProcessRow extends KindRow<ProcessState["status"] | "paused">, ProcessColumns {}

/** The latest report from any worker, joined to a monitor for a response. */
export interface JoinedReport {
  readonly reported_at: Date | null
  readonly report: ProcessReport | null
  readonly reported_by: string | null
}

export const processTable: MonitorTable<ProcessColumns> = {
  kind: "process",
  name: "process_monitors",
  columns: {
    worker_id: "uuid",
    labels: "text[]",
    judge: "text",
    match: "jsonb",
    min_count: "integer",
    max_count: "integer",
    max_rss_bytes: "double precision",
    max_cpu_percent: "double precision",
    interval_seconds: "integer",
    grace_seconds: "integer",
    since: "timestamptz",
    failing_since: "timestamptz",
    failing: "jsonb",
    check_at: "timestamptz"
  },
  nextCheckAt: "check_at",
  shown: {
    columns: "latest.reported_at, latest.report, latest.worker_id AS reported_by",
    joins: `
      LEFT JOIN LATERAL (
        SELECT reported_at, report, worker_id
        FROM process_reports
        WHERE process_reports.workspace_id = k.workspace_id
          AND process_reports.monitor_id = k.monitor_id
        ORDER BY reported_at DESC
        LIMIT 1
      ) AS latest ON true`
  }
}

/** A monitor that a worker has reported about, joined with the worker's previous report. */
export interface RowWithPreviousReport extends ProcessRow {
  readonly worker_name: string
  readonly before_at: Date | null
  readonly before_failing_since: Date | null
  readonly before_failing: IncidentCause | null
}

export const toOngoingFailure = ({
  failing,
  failing_since
}: FailingColumns): OngoingFailure | null =>
  failing === null || failing_since === null
    ? null
    : { sinceMs: failing_since.getTime(), cause: failing }

export const processState = (row: ProcessRow): ProcessState => ({
  status: row.status === "paused" ? "new" : row.status,
  sinceMs: row.since.getTime(),
  failing: toOngoingFailure(row)
})

export const toProcessMonitor = (row: ProcessRow & JoinedReport, now: Date): ProcessMonitor => ({
  ...toMonitorFields(row, now, row.check_at),
  worker_id: row.worker_id === null ? null : WorkerId.make(row.worker_id),
  labels: row.labels,
  judge: row.judge,
  match: row.match,
  min_count: row.min_count,
  max_count: row.max_count,
  max_rss_bytes: row.max_rss_bytes,
  max_cpu_percent: row.max_cpu_percent,
  interval_seconds: row.interval_seconds,
  grace_seconds: row.grace_seconds,
  last_report:
    row.report === null || row.reported_at === null || row.reported_by === null
      ? null
      : {
          at: timestampOf(row.reported_at),
          worker_id: WorkerId.make(row.reported_by),
          ...row.report,
          refused: row.report.refused ?? null
        }
})
