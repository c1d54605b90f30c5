import type { Check } from "@scheduling/domain/monitors/checks/Check"
import type { Monitor } from "@scheduling/domain/monitors/Monitor"
import { type KindRow, type MonitorTable, toMonitorFields } from "../MonitorRows.ts"

/** The settings that decide how a monitor is checked. */
export interface CheckRules {
  readonly interval_seconds: number
  readonly timeout_seconds: number
  readonly confirm_after: number
  readonly recover_after: number
}

export interface CheckedColumns<Target = unknown> extends CheckRules {
  /** The settings that only this kind has. */
  readonly target: Target
  readonly secret_names: ReadonlyArray<string> | null
  readonly check_at: Date | null
  /** How many checks in a row have failed. */
  readonly failures: number
  /** How many checks in a row have succeeded while the monitor is down. */
  readonly successes: number
  readonly last_check: Check | null
  /** The time of the last check that was recorded as an event. */
  readonly recorded_at: Date | null
}

export type CheckedStatus = "new" | "up" | "down" | "paused"

export interface CheckedRow<Target = unknown>
  extends KindRow<CheckedStatus>, CheckedColumns<Target> {}

/** The table that all kinds with targets checked at an interval share. */
export const checkedTable = <Target>(
  kind: Monitor["kind"]
): MonitorTable<CheckedColumns<Target>> => ({
  kind,
  name: "checked_monitors",
  columns: {
    interval_seconds: "integer",
    timeout_seconds: "integer",
    confirm_after: "smallint",
    recover_after: "smallint",
    target: "jsonb",
    secret_names: "text[]",
    check_at: "timestamptz",
    failures: "smallint",
    successes: "smallint",
    last_check: "jsonb",
    recorded_at: "timestamptz"
  },
  nextCheckAt: "check_at"
})

export const toCheckedFields = (row: CheckedRow, now: Date) => ({
  ...toMonitorFields(row, now, row.check_at),
  interval_seconds: row.interval_seconds,
  timeout_seconds: row.timeout_seconds,
  confirm_after: row.confirm_after,
  recover_after: row.recover_after,
  failures: row.failures,
  last_check: row.last_check
})
