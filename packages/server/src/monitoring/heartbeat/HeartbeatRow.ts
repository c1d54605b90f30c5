import type { HeartbeatMonitor } from "@scheduling/domain/monitors/heartbeat/HeartbeatMonitor"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { MonitorId } from "@scheduling/domain/shared/Ids"
import { timestampOrNull } from "../../store/index.ts"
import { type MonitorRow, toMonitorFields } from "../MonitorsRepo.ts"
import { alertAt, type HeartbeatRules, type HeartbeatState } from "./decideHeartbeat.ts"

/** What is written with every ping. */
interface Heard {
  readonly last_ping_at: Date | null
  readonly began_at: Date | null
  readonly last_duration_ms: number | null
  readonly last_rid: string | null
  readonly expected_at: Date | null
  readonly alert_at: Date | null
  readonly runs: HeartbeatState["runs"]
}

/** What it takes to decide. Whoever decides by a version writes only while that is the one. */
export interface WatchedRow extends HeartbeatRules, Heard {
  readonly monitor_id: MonitorId
  readonly workspace_id: AuthorizedWorkspaceId
  readonly key: string | null
  readonly version: number
  readonly status: HeartbeatState["status"]
  readonly changed_at: Date
}

export interface HeartbeatRow extends MonitorRow, HeartbeatRules, Heard {
  readonly sealed_ping_id: string
}

export const watchedColumns = [
  "monitor_id",
  "workspace_id",
  "key",
  "version",
  "status",
  "changed_at",
  "period_seconds",
  "schedule",
  "timezone",
  "grace_seconds",
  "max_duration_seconds",
  "min_interval_seconds",
  "last_ping_at",
  "began_at",
  "last_duration_ms",
  "last_rid",
  "expected_at",
  "alert_at",
  "runs"
] satisfies ReadonlyArray<keyof WatchedRow>

export const stateOf = (row: WatchedRow): HeartbeatState => ({
  status: row.status,
  last_ping_at: msOrNull(row.last_ping_at),
  began_at: msOrNull(row.began_at),
  last_duration_ms: row.last_duration_ms === null ? null : Number(row.last_duration_ms),
  expected_at: msOrNull(row.expected_at),
  last_rid: row.last_rid,
  runs: row.runs
})

export const heardOf = (rules: HeartbeatRules, state: HeartbeatState): Heard => ({
  last_ping_at: dateOrNull(state.last_ping_at),
  began_at: dateOrNull(state.began_at),
  last_duration_ms: state.last_duration_ms,
  last_rid: state.last_rid,
  expected_at: dateOrNull(state.expected_at),
  alert_at: dateOrNull(alertAt(rules, state)),
  runs: state.runs
})

/** A record but for the URL of its pings, which has the address in it by which somebody asks. */
export interface Heartbeat extends Omit<HeartbeatMonitor, "ping_url"> {
  /** None where it was sealed with a secret that this node no longer has. */
  readonly ping_id: string | null
}

export const toHeartbeat = (row: HeartbeatRow, ping_id: string | null): Heartbeat => ({
  ...toMonitorFields(row, row.alert_at),
  period_seconds: row.period_seconds,
  schedule: row.schedule,
  timezone: row.timezone,
  grace_seconds: row.grace_seconds,
  max_duration_seconds: row.max_duration_seconds,
  min_interval_seconds: row.min_interval_seconds,
  ping_id,
  last_ping_at: timestampOrNull(row.last_ping_at),
  last_duration_ms: row.last_duration_ms === null ? null : Number(row.last_duration_ms),
  running_since: timestampOrNull(dateOrNull(row.runs[0]?.started_at ?? null)),
  expected_at: timestampOrNull(row.expected_at),
  alert_at: timestampOrNull(row.alert_at)
})

// ---------------------------------------------------------------------------

const msOrNull = (date: Date | null): number | null => date?.getTime() ?? null

const dateOrNull = (ms: number | null): Date | null => (ms === null ? null : new Date(ms))
