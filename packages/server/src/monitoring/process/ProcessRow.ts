import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type {
  ProcessMatch,
  ProcessMonitor,
  ProcessReport
} from "@scheduling/domain/monitors/process/ProcessMonitor"
import { type MonitorId, WorkerId } from "@scheduling/domain/shared/Ids"
import { timestampOf } from "../../store/index.ts"
import { type MonitorRow, toMonitorFields } from "../MonitorsRepo.ts"
import type { Failing, ProcessRules, ProcessState } from "./decideProcess.ts"

/** What its author wants of it. Either `worker_id` or `labels` is null. */
export interface ProcessSettings extends ProcessRules {
  readonly labels: ReadonlyArray<string> | null
  readonly match: ProcessMatch
}

/** When a rule was first found broken, and which. */
interface FailingColumns {
  readonly failing_since: Date | null
  readonly failing: IncidentCause | null
}

interface Known extends FailingColumns {
  readonly since: Date
  readonly check_at: Date | null
}

/** One that is decided about. */
export interface WatchedRow extends ProcessSettings, Known {
  readonly monitor_id: MonitorId
  readonly workspace_id: AuthorizedWorkspaceId
  readonly key: string | null
  readonly status: ProcessState["status"] | "paused"
}

/** One that a worker has reported about, with what this worker reported before. */
export interface ReportedRow extends WatchedRow {
  readonly worker_name: string
  readonly before_at: Date | null
  readonly before_failing_since: Date | null
  readonly before_failing: IncidentCause | null
}

export interface ProcessRow extends MonitorRow, ProcessSettings, Known {
  readonly reported_at: Date | null
  readonly report: ProcessReport | null
  readonly reported_by: string | null
}

export const toFailing = ({ failing, failing_since }: FailingColumns): Failing | null =>
  failing === null || failing_since === null
    ? null
    : { sinceMs: failing_since.getTime(), cause: failing }

export const stateOf = (row: WatchedRow): ProcessState => ({
  status: row.status === "paused" ? "new" : row.status,
  sinceMs: row.since.getTime(),
  failing: toFailing(row)
})

export const toProcessMonitor = (row: ProcessRow): ProcessMonitor => ({
  ...toMonitorFields(row, row.check_at),
  worker_id: row.worker_id === null ? null : WorkerId.make(row.worker_id),
  labels: row.labels,
  judge: row.judge,
  match: row.match,
  min_count: row.min_count,
  max_count: row.max_count,
  max_rss_bytes: row.max_rss_bytes === null ? null : Number(row.max_rss_bytes),
  max_cpu_percent: row.max_cpu_percent,
  interval_seconds: row.interval_seconds,
  grace_seconds: row.grace_seconds,
  last_report:
    row.report === null || row.reported_at === null || row.reported_by === null
      ? null
      : {
          at: timestampOf(row.reported_at),
          worker_id: WorkerId.make(row.reported_by),
          ...row.report
        }
})
