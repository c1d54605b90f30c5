import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import { findNextCheck, type MonitorReads, monitorReads } from "../MonitorReads.ts"
import { monitorColumns } from "../MonitorsRepo.ts"
import { eventsTable, type MonitorEvent } from "../MonitorEventsRepo.ts"
import type { BodyOwner } from "./BodyBudget.ts"
import type { HeartbeatRules, HeartbeatState } from "./decideHeartbeat.ts"
import { heardOf, type HeartbeatRow, type WatchedRow, watchedColumns } from "./HeartbeatRow.ts"
import { type OrdinaryPing, ordinaryPings } from "./ordinaryPings.ts"

/** One that a decision was made about. */
export interface Decided {
  readonly row: WatchedRow
  /** In force from now on; those of the row unless somebody changed them. */
  readonly rules: HeartbeatRules
  readonly state: HeartbeatState
}

/** The monitor of a ping, with the ping URL that was called. */
export interface PingedRow extends WatchedRow {
  readonly ping_hash: string
  readonly lane: bigint
}

export interface PingUrlRow {
  readonly monitor_id: string
  readonly workspace_id: string
  readonly ping_hash: string
  readonly sealed_ping_id: string
}

export class HeartbeatsRepo extends Context.Service<
  HeartbeatsRepo,
  MonitorReads<HeartbeatRow> & {
    readonly insert: (
      monitor: HeartbeatRules & { readonly id: string; readonly workspace_id: string }
    ) => Effect.Effect<void>
    /**
     * Locks it: no ping and no deadline touches it until the commit. Both of its rows, as one that is
     * not locked is read as it was before the wait for the other.
     */
    readonly findForUpdate: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<WatchedRow>>
    /**
     * Writes the pings that need no decision, without the bodies of the workspaces `bodiless`, and
     * returns by their hashes whose they are.
     */
    readonly updateByOrdinary: (
      pings: ReadonlyArray<OrdinaryPing>,
      bodiless: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, BodyOwner>>
    /** By the hash of their URLs, any of them. */
    readonly findByPing: (hashes: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<PingedRow>>
    /** Locks the heartbeats that are due, and skips locked ones. */
    readonly findDueForUpdate: (by: Date, limit: number) => Effect.Effect<ReadonlyArray<WatchedRow>>
    /** The next ones that were changed or pinged later than that. */
    readonly findLaterForUpdate: (
      at: Date,
      after: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<WatchedRow>>
    /** When the next one is to be looked at. */
    readonly findNextCheck: Effect.Effect<Date | undefined>
    /**
     * Writes what was decided about those that nobody has written or locked since they were read,
     * with their events, and answers which they are. When to look is left as it is where that is
     * soon enough: a ping writes no index.
     */
    readonly updateUnlessChanged: (
      decided: ReadonlyArray<Decided>,
      events: ReadonlyArray<MonitorEvent>
    ) => Effect.Effect<ReadonlySet<string>>
    /** For whoever has locked them. They are looked at when a deadline passes, and not before. */
    readonly updateLocked: (decided: ReadonlyArray<Decided>) => Effect.Effect<void>
    /** The URL that it has from now on. */
    readonly updatePingUrl: (url: PingUrlRow) => Effect.Effect<void>
  }
>()("@scheduling/server/monitoring/heartbeat/HeartbeatsRepo") {
  static readonly layer: Layer.Layer<HeartbeatsRepo, never, SqlClient.SqlClient> = Layer.effect(
    HeartbeatsRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const watched = sql.literal(
        watchedColumns.map((name) => `${isOfMonitor(name) ? "m" : "h"}.${name}`).join(", ")
      )
      const listed = (now: Date) => sql`
        ${monitorColumns(sql, now)},
          h.period_seconds, h.schedule, h.timezone, h.grace_seconds, h.max_duration_seconds,
          h.min_interval_seconds, h.last_ping_at, h.began_at, h.last_duration_ms, h.last_rid,
          h.expected_at, h.alert_at, h.runs, ping_urls.sealed_ping_id
        FROM monitors AS m
        JOIN heartbeats AS h ON h.monitor_id = m.id
        JOIN ping_urls ON ping_urls.monitor_id = m.id`

      return HeartbeatsRepo.of({
        insert: Effect.fn("HeartbeatsRepo.insert")(function* (monitor) {
          yield* sql`
            INSERT INTO heartbeats (
              monitor_id, workspace_id, period_seconds, schedule, timezone, grace_seconds,
              max_duration_seconds, min_interval_seconds
            )
            VALUES (
              ${monitor.id}, ${monitor.workspace_id}, ${monitor.period_seconds},
              ${monitor.schedule}, ${monitor.timezone}, ${monitor.grace_seconds},
              ${monitor.max_duration_seconds}, ${monitor.min_interval_seconds}
            )`
        }, Effect.orDie),

        ...monitorReads<HeartbeatRow>(sql, "heartbeat", listed),

        findForUpdate: Effect.fn("HeartbeatsRepo.findForUpdate")(function* (workspaceId, id) {
          const rows = yield* sql<WatchedRow>`
            SELECT ${watched}
            FROM heartbeats AS h
            JOIN monitors AS m ON m.id = h.monitor_id
            WHERE h.workspace_id = ${workspaceId}
              AND h.monitor_id = ${id}
            FOR UPDATE OF h, m`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        updateByOrdinary: Effect.fn("HeartbeatsRepo.updateByOrdinary")(function* (pings, bodiless) {
          const rows = yield* ordinaryPings(sql, pings, bodiless)
          return new Map(rows.map((row) => [row.ping_hash, row]))
        }, Effect.orDie),

        findByPing: Effect.fn("HeartbeatsRepo.findByPing")(function* (hashes) {
          return yield* sql<PingedRow>`
            SELECT ${watched}, ping_urls.ping_hash, ping_urls.lane
            FROM ping_urls
            JOIN heartbeats AS h ON h.monitor_id = ping_urls.monitor_id
            JOIN monitors AS m ON m.id = h.monitor_id
            WHERE ping_urls.ping_hash = ANY (${hashes}::text[])`
        }, Effect.orDie),

        findDueForUpdate: Effect.fn("HeartbeatsRepo.findDueForUpdate")(function* (by, limit) {
          return yield* sql<WatchedRow>`
            SELECT ${watched}
            FROM heartbeats AS h
            JOIN monitors AS m ON m.id = h.monitor_id
            WHERE h.check_at < ${by}
            ORDER BY h.check_at
            LIMIT ${limit}
            FOR UPDATE OF h, m SKIP LOCKED`
        }, Effect.orDie),

        findLaterForUpdate: Effect.fn("HeartbeatsRepo.findLaterForUpdate")(function* (
          at,
          after,
          limit
        ) {
          return yield* sql<WatchedRow>`
            SELECT ${watched}
            FROM heartbeats AS h
            JOIN monitors AS m ON m.id = h.monitor_id
            WHERE h.monitor_id > ${after}
              AND greatest(h.last_ping_at, h.began_at, m.changed_at, m.updated_at) > ${at}
            ORDER BY h.monitor_id
            LIMIT ${limit}
            FOR UPDATE OF h, m`
        }, Effect.orDie),

        findNextCheck: findNextCheck(sql, "heartbeats"),

        updateUnlessChanged: Effect.fn("HeartbeatsRepo.updateUnlessChanged")(function* (
          decided,
          events
        ) {
          const rows = yield* sql<{ readonly monitor_id: string }>`
            WITH input AS (
              ${decidedTable(sql, decided)}
            ), mine AS MATERIALIZED (
              SELECT h.monitor_id
              FROM heartbeats AS h
              JOIN input ON input.monitor_id = h.monitor_id AND input.version = h.version
              ORDER BY h.monitor_id
              FOR NO KEY UPDATE OF h SKIP LOCKED
            ), updated AS (
              UPDATE heartbeats AS h
              SET
                version = h.version + 1,
                last_ping_at = input.last_ping_at,
                began_at = input.began_at,
                last_duration_ms = input.last_duration_ms,
                last_rid = input.last_rid,
                expected_at = input.expected_at,
                alert_at = input.alert_at,
                check_at = CASE
                  WHEN input.alert_at IS NULL THEN h.check_at
                  ELSE least(h.check_at, input.alert_at)
                END,
                runs = input.runs
              FROM input
              WHERE h.monitor_id = input.monitor_id
                AND h.monitor_id IN (SELECT mine.monitor_id FROM mine)
              RETURNING h.monitor_id
            ), recorded AS (
              INSERT INTO monitor_events (id, workspace_id, monitor_id, type, status, at, details)
              SELECT events.*
              FROM (${eventsTable(sql, events)}) AS events
              JOIN updated ON updated.monitor_id = events.monitor_id
            )
            SELECT monitor_id
            FROM updated`
          return new Set(rows.map(({ monitor_id }) => monitor_id))
        }, Effect.orDie),

        updateLocked: Effect.fn("HeartbeatsRepo.updateLocked")(function* (decided) {
          if (decided.length === 0) return
          yield* sql`
            UPDATE heartbeats AS h
            SET
              version = h.version + 1,
              period_seconds = input.period_seconds,
              schedule = input.schedule,
              timezone = input.timezone,
              grace_seconds = input.grace_seconds,
              max_duration_seconds = input.max_duration_seconds,
              min_interval_seconds = input.min_interval_seconds,
              last_ping_at = input.last_ping_at,
              began_at = input.began_at,
              last_duration_ms = input.last_duration_ms,
              last_rid = input.last_rid,
              expected_at = input.expected_at,
              alert_at = input.alert_at,
              check_at = input.alert_at,
              runs = input.runs
            FROM (${decidedTable(sql, decided)}) AS input
            WHERE h.monitor_id = input.monitor_id`
        }, Effect.orDie),

        updatePingUrl: Effect.fn("HeartbeatsRepo.updatePingUrl")(function* (url) {
          yield* sql`
            INSERT INTO ping_urls ${sql.insert({ ...url })}
            ON CONFLICT (monitor_id) DO UPDATE
            SET ping_hash = EXCLUDED.ping_hash, sealed_ping_id = EXCLUDED.sealed_ping_id`
        }, Effect.orDie)
      })
    })
  )
}

// ---------------------------------------------------------------------------

const isOfMonitor = (column: string) => ["key", "status", "changed_at"].includes(column)

const decidedTable = (sql: SqlClient.SqlClient, decided: ReadonlyArray<Decided>) => {
  const column = columnsOf(
    decided.map(({ row, rules, state }) => ({ ...row, ...rules, ...heardOf(rules, state) }))
  )
  return sql`
    SELECT
      monitor_id, version, period_seconds, schedule, timezone, grace_seconds,
      max_duration_seconds, min_interval_seconds, last_ping_at, began_at, last_duration_ms,
      last_rid, expected_at, alert_at, runs::jsonb
    FROM unnest(
      ${column("uuid", ({ monitor_id }) => monitor_id)},
      ${column("int4", ({ version }) => version)},
      ${column("int4", ({ period_seconds }) => period_seconds)},
      ${column("text", ({ schedule }) => schedule)},
      ${column("text", ({ timezone }) => timezone)},
      ${column("int4", ({ grace_seconds }) => grace_seconds)},
      ${column("int4", ({ max_duration_seconds }) => max_duration_seconds)},
      ${column("int4", ({ min_interval_seconds }) => min_interval_seconds)},
      ${column("timestamptz", ({ last_ping_at }) => last_ping_at)},
      ${column("timestamptz", ({ began_at }) => began_at)},
      ${column("float8", ({ last_duration_ms }) => last_duration_ms)},
      ${column("uuid", ({ last_rid }) => last_rid)},
      ${column("timestamptz", ({ expected_at }) => expected_at)},
      ${column("timestamptz", ({ alert_at }) => alert_at)},
      ${column("text", ({ runs }) => JSON.stringify(runs))}
    ) AS decided (
      monitor_id, version, period_seconds, schedule, timezone, grace_seconds,
      max_duration_seconds, min_interval_seconds, last_ping_at, began_at, last_duration_ms,
      last_rid, expected_at, alert_at, runs
    )`
}
