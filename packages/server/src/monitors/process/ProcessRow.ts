import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type {
  ProcessMatch,
  ProcessMonitor,
  ProcessReport
} from "@scheduling/domain/monitors/process/ProcessMonitor"
import { type MonitorId, WorkerId } from "@scheduling/domain/shared/Ids"
import { timestampOf } from "../../sql/timestamp.ts"
import { type MonitorRow, toMonitorFields } from "../MonitorsRepo.ts"
import type { ProcessRules, ProcessState } from "./decideProcess.ts"

/** What its author wants of it. */
export interface ProcessSettings extends ProcessRules {
  readonly worker_id: string
  readonly match: ProcessMatch
}

interface Known {
  readonly reported_at: Date | null
  readonly report: ProcessReport | null
  readonly failing_since: Date | null
  readonly failing: IncidentCause | null
  readonly check_at: Date | null
}

/** One that is decided about, with its row locked. */
export interface WatchedRow extends ProcessSettings, Known {
  readonly monitor_id: MonitorId
  readonly workspace_id: AuthorizedWorkspaceId
  readonly status: ProcessState["status"] | "paused"
}

export interface ProcessRow extends MonitorRow, ProcessSettings, Known {}

export const stateOf = ({ failing, failing_since, status }: WatchedRow): ProcessState => ({
  status: status === "paused" ? "new" : status,
  failing:
    failing === null || failing_since === null
      ? null
      : { sinceMs: failing_since.getTime(), cause: failing }
})

export const toProcessMonitor = (row: ProcessRow): ProcessMonitor => ({
  ...toMonitorFields(row, row.check_at),
  worker_id: WorkerId.make(row.worker_id),
  match: row.match,
  min_count: row.min_count,
  max_count: row.max_count,
  max_rss_bytes: row.max_rss_bytes === null ? null : Number(row.max_rss_bytes),
  max_cpu_percent: row.max_cpu_percent,
  interval_seconds: row.interval_seconds,
  grace_seconds: row.grace_seconds,
  last_report:
    row.report === null || row.reported_at === null
      ? null
      : { at: timestampOf(row.reported_at), ...row.report }
})
