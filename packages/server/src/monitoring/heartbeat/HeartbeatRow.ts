import type { HeartbeatMonitor } from "@scheduling/domain/monitors/heartbeat/HeartbeatMonitor"
import { timestampOrNull } from "../../store/index.ts"
import { type KindRow, type MonitorTable, toMonitorFields } from "../MonitorTable.ts"
import { alertTimeOf, type HeartbeatRules, type HeartbeatState } from "./decideHeartbeat.ts"

/** The columns that are written with every ping. */
export interface PingColumns {
  readonly last_ping_at: Date | null
  readonly began_at: Date | null
  readonly last_duration_ms: number | null
  readonly last_rid: string | null
  readonly expected_at: Date | null
  readonly alert_at: Date | null
  readonly runs: HeartbeatState["runs"]
}

export interface HeartbeatColumns extends HeartbeatRules, PingColumns {
  readonly check_at: Date | null
}

export interface HeartbeatRow extends KindRow<HeartbeatState["status"]>, HeartbeatColumns {}

export const heartbeatTable: MonitorTable<HeartbeatColumns> = {
  kind: "heartbeat",
  name: "heartbeats",
  columns: {
    period_seconds: "integer",
    schedule: "text",
    timezone: "text",
    grace_seconds: "integer",
    max_duration_seconds: "integer",
    min_interval_seconds: "integer",
    last_ping_at: "timestamptz",
    began_at: "timestamptz",
    last_duration_ms: "double precision",
    last_rid: "uuid",
    expected_at: "timestamptz",
    alert_at: "timestamptz",
    runs: "jsonb",
    check_at: "timestamptz"
  },
  nextCheckAt: "alert_at",
  lateAfter: "expected_at",
  shown: {
    columns: "ping_urls.sealed_ping_id",
    joins: "JOIN ping_urls ON ping_urls.monitor_id = m.id"
  }
}

export const heartbeatState = (row: HeartbeatRow): HeartbeatState => ({
  status: row.status,
  last_ping_at: toMsOrNull(row.last_ping_at),
  began_at: toMsOrNull(row.began_at),
  last_duration_ms: row.last_duration_ms,
  expected_at: toMsOrNull(row.expected_at),
  last_rid: row.last_rid,
  runs: row.runs
})

export const toPingColumns = (rules: HeartbeatRules, state: HeartbeatState): PingColumns => ({
  last_ping_at: dateOrNull(state.last_ping_at),
  began_at: dateOrNull(state.began_at),
  last_duration_ms: state.last_duration_ms,
  last_rid: state.last_rid,
  expected_at: dateOrNull(state.expected_at),
  alert_at: dateOrNull(alertTimeOf(rules, state)),
  runs: state.runs
})

/**
 * A heartbeat monitor with the secret part of its ping URL. The full URL depends on the request.
 */
export interface Heartbeat extends Omit<HeartbeatMonitor, "ping_url"> {
  /**
   * The ping URL's secret part. Null if it was encrypted with a secret that this node no longer
   * has. The name differs from `ping_id` in requests, so that exports and versions do not contain
   * the value.
   */
  readonly shown_ping_id: string | null
}

export const toHeartbeat = (
  row: HeartbeatRow,
  shown_ping_id: string | null,
  now: Date
): Heartbeat => ({
  ...toMonitorFields(row, now, row.alert_at, row.expected_at),
  period_seconds: row.period_seconds,
  schedule: row.schedule,
  timezone: row.schedule === null ? null : row.timezone,
  grace_seconds: row.grace_seconds,
  max_duration_seconds: row.max_duration_seconds,
  min_interval_seconds: row.min_interval_seconds,
  shown_ping_id,
  last_ping_at: timestampOrNull(row.last_ping_at),
  last_duration_ms: row.last_duration_ms,
  running_since: timestampOrNull(dateOrNull(row.runs[0]?.started_at ?? null)),
  expected_at: timestampOrNull(row.expected_at),
  alert_at: timestampOrNull(row.alert_at)
})

const toMsOrNull = (date: Date | null): number | null => date?.getTime() ?? null

const dateOrNull = (ms: number | null): Date | null => (ms === null ? null : new Date(ms))
