import type { Check } from "@scheduling/domain/monitors/checks/Check"
import type { Monitor } from "@scheduling/domain/monitors/Monitor"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import { dueMonitors, type CheckLeaseOptions } from "../dueMonitors.ts"
import { histogramOfLatency } from "../uptime/latencies.ts"
import { addToUptimeBucketSql, uptimeBucketWidthsSql } from "../uptime/UptimeRepo.ts"
import { eventsTableSql, type MonitorEvent } from "../MonitorEventsRepo.ts"
import {
  selectedMonitorColumns,
  type KindRow,
  type MonitorTableRepo,
  monitorTableRepo
} from "../MonitorTable.ts"
import {
  type CheckedColumns,
  type CheckedRow,
  checkedTable,
  type JoinedPlaces
} from "./CheckedRow.ts"

/** A monitor whose target is to be checked. */
export interface DueMonitorRow extends CheckedRow {
  readonly kind: Monitor["kind"]
}

/** The changes that a check makes to its monitor. */
export interface CheckUpdate {
  readonly row: Pick<KindRow, "monitor_id" | "row_version">
  readonly check_at: Date
  readonly failures: number
  readonly successes: number
  readonly last_check: Check
  readonly recorded_at: Date | null
}

export class ChecksRepo extends Context.Service<
  ChecksRepo,
  {
    readonly rowReader: <Target>(
      kind: Monitor["kind"]
    ) => MonitorTableRepo<CheckedRow<Target>, CheckedColumns<Target>, JoinedPlaces>
    readonly findNextCheck: Effect.Effect<Date | undefined>
    /**
     * Leases due monitors of all kinds, but only a few per workspace, so that one workspace's
     * unresponsive targets do not delay the others.
     */
    readonly lease: (
      now: Date,
      options: CheckLeaseOptions
    ) => Effect.Effect<ReadonlyArray<DueMonitorRow>>
    /**
     * Writes results with their events, except for monitors that were changed or leased by another
     * node since their checks began. Returns the written monitors' ids.
     */
    readonly write: (
      updates: ReadonlyArray<CheckUpdate>,
      events: ReadonlyArray<MonitorEvent>
    ) => Effect.Effect<ReadonlySet<string>>
  }
>()("@scheduling/server/monitoring/checks/ChecksRepo") {
  static readonly layer: Layer.Layer<ChecksRepo, never, SqlClient.SqlClient> = Layer.effect(
    ChecksRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const columns = sql.literal(`m.kind, ${selectedMonitorColumns(checkedTable("http"))}`)

      return ChecksRepo.of({
        rowReader: <Target>(kind: Monitor["kind"]) =>
          monitorTableRepo<CheckedRow<Target>, CheckedColumns<Target>, JoinedPlaces>(
            sql,
            checkedTable(kind)
          ),

        findNextCheck: monitorTableRepo<CheckedRow, CheckedColumns>(sql, checkedTable("http"))
          .findNextCheck,

        lease: Effect.fn("ChecksRepo.lease")(function* (now, options) {
          return yield* sql<DueMonitorRow>`
            WITH ${dueMonitors(sql, "checked_monitors", now, options)}
            UPDATE checked_monitors AS k
            SET
              check_at = greatest(
                k.check_at + least(k.interval_seconds, ${longestLeaseSeconds}) * interval '1 second',
                ${now}::timestamptz
                  + (k.timeout_seconds + ${leaseMarginSeconds}) * interval '1 second'
              ),
              version = k.version + 1
            FROM monitors AS m
            WHERE k.monitor_id IN (SELECT chosen.monitor_id FROM chosen)
              AND m.id = k.monitor_id
            RETURNING ${columns}`
        }, Effect.orDie),

        write: Effect.fn("ChecksRepo.write")(function* (updates, events) {
          if (updates.length === 0) return new Set<string>()
          const column = columnsOf(updates)
          const rows = yield* sql<{ readonly monitor_id: string }>`
            WITH input AS (
              SELECT
                monitor_id, version, check_at, failures, successes, last_check::jsonb, recorded_at,
                at, failed, latencies::integer[]
              FROM unnest(
                ${column("uuid", ({ row }) => row.monitor_id)},
                ${column("int4", ({ row }) => row.row_version)},
                ${column("timestamptz", ({ check_at }) => check_at)},
                ${column("int4", ({ failures }) => failures)},
                ${column("int4", ({ successes }) => successes)},
                ${column("text", ({ last_check }) => JSON.stringify(last_check))},
                ${column("timestamptz", ({ recorded_at }) => recorded_at)},
                ${column("timestamptz", ({ last_check }) => new Date(last_check.at))},
                ${column("int4", ({ last_check }) => (last_check.error === null ? 0 : 1))},
                ${column("text", ({ last_check }) => latenciesOf(last_check))}
              ) AS decided (
                monitor_id, version, check_at, failures, successes, last_check, recorded_at, at,
                failed, latencies
              )
            ), mine AS MATERIALIZED (
              SELECT k.monitor_id
              FROM checked_monitors AS k
              JOIN input ON input.monitor_id = k.monitor_id AND input.version = k.version
              ORDER BY k.monitor_id
              FOR NO KEY UPDATE OF k SKIP LOCKED
            ), updated AS (
              UPDATE checked_monitors AS k
              SET
                version = k.version + 1,
                check_at = input.check_at,
                failures = input.failures,
                successes = input.successes,
                last_check = input.last_check,
                recorded_at = input.recorded_at
              FROM input
              WHERE k.monitor_id = input.monitor_id
                AND k.version = input.version
                AND k.monitor_id IN (SELECT mine.monitor_id FROM mine)
              RETURNING k.monitor_id, k.workspace_id, input.at, input.failed, input.latencies
            ), counted AS (
              INSERT INTO uptime_buckets (
                monitor_id, workspace_id, seconds, starts_at, checks, failed_checks, latencies
              )
              SELECT
                monitor_id, workspace_id, width.seconds,
                to_timestamp(floor(date_part('epoch', at) / width.seconds) * width.seconds),
                1, failed, latencies
              FROM updated
              CROSS JOIN ${sql.literal(uptimeBucketWidthsSql)}
              ORDER BY monitor_id, width.seconds
              ${sql.literal(addToUptimeBucketSql)}
            ), recorded AS (
              INSERT INTO monitor_events (id, workspace_id, monitor_id, type, status, at, details)
              SELECT events.*
              FROM (${eventsTableSql(sql, events)}) AS events
              JOIN updated ON updated.monitor_id = events.monitor_id
            )
            SELECT monitor_id
            FROM updated`
          return new Set(rows.map(({ monitor_id }) => monitor_id))
        }, Effect.orDie)
      })
    })
  )
}

/** Returns a successful check's latency as a histogram, in the syntax of a PostgreSQL array. */
const latenciesOf = ({ duration_ms, error }: Check): string | null =>
  error === null && duration_ms !== null ? `{${histogramOfLatency(duration_ms).join(",")}}` : null

/**
 * The maximum lease of a check. If a node stops, another node repeats the check after this time,
 * even if the check's interval is a day.
 */
const longestLeaseSeconds = 120

const leaseMarginSeconds = 5
