import type { Check } from "@scheduling/domain/monitors/checks/Check"
import type { DownWhen, Place, PlaceResult } from "@scheduling/domain/monitors/checks/Place"
import type { Monitor } from "@scheduling/domain/monitors/Monitor"
import { isDeepStrictEqual } from "node:util"
import { timestampOrNull } from "../../store/index.ts"
import { type KindRow, type MonitorTable, toMonitorFields } from "../MonitorTable.ts"

/** The settings that decide how a monitor is checked. */
export interface CheckRules {
  readonly interval_seconds: number
  readonly timeout_seconds: number
  readonly confirm_after: number
  readonly recover_after: number
  /** The places from which the target is checked. Null if the service checks it. */
  readonly places: ReadonlyArray<Place> | null
  readonly down_when: DownWhen
}

/** The columns of the table for all kinds whose targets are checked periodically. */
export interface CheckedColumns<Target = unknown> extends CheckRules {
  /** The settings that only this kind has. */
  readonly target: Target
  readonly secret_names: ReadonlyArray<string> | null
  readonly check_at: Date | null
  /** The number of consecutive checks that failed. */
  readonly failures: number
  /** The number of consecutive checks that succeeded while the monitor is down. */
  readonly successes: number
  readonly last_check: Check | null
  /** The time of the last check that was recorded as an event. */
  readonly recorded_at: Date | null
}

export type CheckedStatus = "new" | "up" | "down" | "paused"

/** A monitor whose target is checked periodically. `check_at` is the time of its next check. */
export interface CheckedRow<Target = unknown>
  extends KindRow<CheckedStatus>, CheckedColumns<Target> {}

/** Returns the table for all kinds whose targets are checked periodically. */
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
    places: "jsonb",
    down_when: "text",
    target: "jsonb",
    secret_names: "text[]",
    check_at: "timestamptz",
    failures: "smallint",
    successes: "smallint",
    last_check: "jsonb",
    recorded_at: "timestamptz"
  },
  nextCheckAt: "check_at",
  shown: { columns: placeResultsSql, joins: "" }
})

/** SQL for the results of a monitor's places. They are not read for monitors without places. */
const placeResultsSql = `
  CASE WHEN k.places IS NOT NULL THEN (
    SELECT jsonb_agg(
      jsonb_build_object(
        'place', p.place,
        'labels', p.labels,
        'status', p.status,
        'reason', p.reason,
        'worker', w.name,
        'checked_at', p.checked_at,
        'last_check', p.last_check
      )
    )
    FROM monitor_places AS p
    LEFT JOIN workers AS w
      ON w.workspace_id = p.workspace_id
      AND w.id = p.worker_id
    WHERE p.workspace_id = k.workspace_id
      AND p.monitor_id = k.monitor_id
  ) END AS place_results`

interface JoinedPlace extends PlaceResult {
  readonly place: number
}

/** The columns of other tables that are read to show a monitor. */
export interface JoinedPlaces {
  readonly place_results: ReadonlyArray<JoinedPlace> | null
}

/**
 * Returns each place's result. A result with other labels is omitted, because it belongs to a
 * former place.
 */
const toPlaceResults = ({
  place_results,
  places
}: CheckRules & JoinedPlaces): ReadonlyArray<PlaceResult> =>
  (places ?? []).map(({ labels }, index) => {
    const found = place_results?.find(
      (one) => one.place === index && isDeepStrictEqual(one.labels, labels)
    )
    if (found === undefined) return { labels, ...notChecked }
    const { checked_at, last_check, reason, status, worker } = found
    const checkedAt = checked_at === null ? null : new Date(checked_at)
    return { labels, status, reason, worker, checked_at: timestampOrNull(checkedAt), last_check }
  })

const notChecked = {
  status: "unknown",
  reason: "Not checked yet.",
  worker: null,
  checked_at: null,
  last_check: null
} as const

export const toCheckedFields = (row: CheckedRow & JoinedPlaces, now: Date) => ({
  ...toMonitorFields(row, now, row.check_at),
  interval_seconds: row.interval_seconds,
  timeout_seconds: row.timeout_seconds,
  confirm_after: row.confirm_after,
  recover_after: row.recover_after,
  places: row.places,
  down_when: row.down_when,
  failures: row.failures,
  last_check: row.last_check,
  place_results: toPlaceResults(row)
})
