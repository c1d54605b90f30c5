import type { Check } from "@scheduling/domain/monitors/checks/Check"
import type { Monitor } from "@scheduling/domain/monitors/Monitor"
import { type KindRow, type MonitorTable, toMonitorFields } from "../MonitorRows.ts"

/** The settings of the checks of a monitor. */
export interface CheckRules {
  readonly interval_seconds: number
  readonly timeout_seconds: number
  readonly confirm_after: number
  readonly recover_after: number
}

export interface CheckedColumns<Target = unknown> extends CheckRules {
  /** The settings of the kind. */
  readonly target: Target
  readonly secret_names: ReadonlyArray<string> | null
  readonly check_at: Date | null
  /** How many checks in a row have failed. */
  readonly failures: number
  /** How many checks in a row have succeeded while the monitor is down. */
  readonly successes: number
  readonly last_check: Check | null
  /** When a check was last written to the events. */
  readonly recorded_at: Date | null
}

export type CheckedStatus = "new" | "up" | "down" | "paused"

export interface CheckedRow<Target = unknown>
  extends KindRow<CheckedStatus>, CheckedColumns<Target> {}

/** The table of the kinds whose targets are checked at an interval. */
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
