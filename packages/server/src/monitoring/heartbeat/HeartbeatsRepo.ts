import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import { eventsTableSql, type MonitorEvent } from "../MonitorEventsRepo.ts"
import { selectedMonitorColumns, type MonitorTableRepo, monitorTableRepo } from "../MonitorTable.ts"
import type { PingBodyOwner } from "./PingBodyBudget.ts"
import type { HeartbeatState } from "./decideHeartbeat.ts"
import {
  type HeartbeatColumns,
  type HeartbeatRow,
  heartbeatTable,
  type PingColumns,
  toPingColumns
} from "./HeartbeatRow.ts"
import { type OrdinaryPing, writeOrdinaryPings } from "./writeOrdinaryPings.ts"

/** A heartbeat as it was read, and its new state. */
export interface DecidedHeartbeat {
  readonly row: HeartbeatRow
  readonly state: HeartbeatState
}

/** The encrypted secret part of a ping URL. */
export interface SealedPingUrl {
  readonly sealed_ping_id: string
}

/** The monitor that a ping belongs to, with the hash of the ping URL that was called. */
export interface PingedRow extends HeartbeatRow {
  readonly ping_hash: string
  readonly lane: bigint
}

export interface PingUrlRow extends SealedPingUrl {
  readonly monitor_id: string
  readonly workspace_id: string
  readonly ping_hash: string
}

export class HeartbeatsRepo extends Context.Service<
  HeartbeatsRepo,
  MonitorTableRepo<HeartbeatRow, HeartbeatColumns, SealedPingUrl> & {
    /**
     * Writes the pings that need no decision (see `writeOrdinaryPings`). Bodies are dropped for
     * pings in the workspaces `bodiless`. Returns each written ping's owner by the hash of the
     * ping's URL.
     */
    readonly updateByOrdinaryPings: (
      pings: ReadonlyArray<OrdinaryPing>,
      bodiless: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, PingBodyOwner>>
    readonly findByPing: (hashes: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<PingedRow>>
    /**
     * Locks heartbeats that were changed or pinged later than `at`, in the order of their ids.
     * Begins with the first id after `after`.
     */
    readonly findChangedAfterForUpdate: (
      at: Date,
      after: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<HeartbeatRow>>
    /**
     * Writes decisions and their events, except for rows that another transaction has changed or
     * locked since they were read. Returns the written monitors' ids. `check_at` only moves to an
     * earlier time, so that an ordinary ping does not write to an index.
     */
    readonly updateUnlessChanged: (
      decided: ReadonlyArray<DecidedHeartbeat>,
      events: ReadonlyArray<MonitorEvent>
    ) => Effect.Effect<ReadonlySet<string>>
    /** Writes decisions about locked rows, and sets `check_at` to the exact deadline. */
    readonly updateLocked: (decided: ReadonlyArray<DecidedHeartbeat>) => Effect.Effect<void>
    readonly updatePingUrl: (url: PingUrlRow) => Effect.Effect<void>
    /**
     * Inserts a ping URL. Returns false if another monitor has this ping id. The transaction has
     * then failed.
     */
    readonly insertPingUrl: (url: PingUrlRow) => Effect.Effect<boolean>
  }
>()("@scheduling/server/monitoring/heartbeat/HeartbeatsRepo") {
  static readonly layer: Layer.Layer<HeartbeatsRepo, never, SqlClient.SqlClient> = Layer.effect(
    HeartbeatsRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const columns = sql.literal(selectedMonitorColumns(heartbeatTable))
      const setPingColumns = sql.literal(
        pingColumnNames.map((name) => `${name} = input.${name}`).join(", ")
      )

      return HeartbeatsRepo.of({
        ...monitorTableRepo<HeartbeatRow, HeartbeatColumns, SealedPingUrl>(sql, heartbeatTable),

        updateByOrdinaryPings: Effect.fn("HeartbeatsRepo.updateByOrdinaryPings")(function* (
          pings,
          bodiless
        ) {
          const rows = yield* writeOrdinaryPings(sql, pings, bodiless)
          return new Map(rows.map((row) => [row.ping_hash, row]))
        }, Effect.orDie),

        findByPing: Effect.fn("HeartbeatsRepo.findByPing")(function* (hashes) {
          return yield* sql<PingedRow>`
            SELECT ${columns}, ping_urls.ping_hash, ping_urls.lane
            FROM ping_urls
            JOIN heartbeats AS k ON k.monitor_id = ping_urls.monitor_id
            JOIN monitors AS m ON m.id = k.monitor_id
            WHERE ping_urls.ping_hash = ANY (${hashes}::text[])`
        }, Effect.orDie),

        findChangedAfterForUpdate: Effect.fn("HeartbeatsRepo.findChangedAfterForUpdate")(function* (
          at,
          after,
          limit
        ) {
          return yield* sql<HeartbeatRow>`
            SELECT ${columns}
            FROM heartbeats AS k
            JOIN monitors AS m ON m.id = k.monitor_id
            WHERE k.monitor_id > ${after}
              AND greatest(k.last_ping_at, k.began_at, m.changed_at, m.updated_at) > ${at}
            ORDER BY k.monitor_id
            LIMIT ${limit}
            FOR UPDATE OF k, m`
        }, Effect.orDie),

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
                ${setPingColumns},
                check_at = CASE
                  WHEN input.alert_at IS NULL THEN h.check_at
                  ELSE least(h.check_at, input.alert_at)
                END
              FROM input
              WHERE h.monitor_id = input.monitor_id
                AND h.monitor_id IN (SELECT mine.monitor_id FROM mine)
              RETURNING h.monitor_id
            ), recorded AS (
              INSERT INTO monitor_events (id, workspace_id, monitor_id, type, status, at, details)
              SELECT events.*
              FROM (${eventsTableSql(sql, events)}) AS events
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
            SET version = h.version + 1, ${setPingColumns}, check_at = input.alert_at
            FROM (${decidedTable(sql, decided)}) AS input
            WHERE h.monitor_id = input.monitor_id`
        }, Effect.orDie),

        updatePingUrl: Effect.fn("HeartbeatsRepo.updatePingUrl")(function* (url) {
          yield* sql`
            INSERT INTO ping_urls ${sql.insert({ ...url })}
            ON CONFLICT (monitor_id) DO UPDATE
            SET ping_hash = EXCLUDED.ping_hash, sealed_ping_id = EXCLUDED.sealed_ping_id`
        }, Effect.orDie),

        insertPingUrl: Effect.fn("HeartbeatsRepo.insertPingUrl")((url) =>
          sql`INSERT INTO ping_urls ${sql.insert({ ...url })}`.pipe(
            Effect.as(true),
            Effect.catchReason("SqlError", "UniqueViolation", () => Effect.succeed(false)),
            Effect.orDie
          )
        )
      })
    })
  )
}

const pingColumnNames: ReadonlyArray<keyof PingColumns> = [
  "last_ping_at",
  "began_at",
  "last_duration_ms",
  "last_rid",
  "expected_at",
  "alert_at",
  "runs"
]

const decidedTable = (sql: SqlClient.SqlClient, decided: ReadonlyArray<DecidedHeartbeat>) => {
  const column = columnsOf(
    decided.map(({ row, state }) => ({ ...row, ...toPingColumns(row, state) }))
  )
  return sql`
    SELECT
      monitor_id, version, last_ping_at, began_at, last_duration_ms, last_rid, expected_at,
      alert_at, runs::jsonb
    FROM unnest(
      ${column("uuid", ({ monitor_id }) => monitor_id)},
      ${column("int4", ({ row_version }) => row_version)},
      ${column("timestamptz", ({ last_ping_at }) => last_ping_at)},
      ${column("timestamptz", ({ began_at }) => began_at)},
      ${column("float8", ({ last_duration_ms }) => last_duration_ms)},
      ${column("uuid", ({ last_rid }) => last_rid)},
      ${column("timestamptz", ({ expected_at }) => expected_at)},
      ${column("timestamptz", ({ alert_at }) => alert_at)},
      ${column("text", ({ runs }) => JSON.stringify(runs))}
    ) AS decided (
      monitor_id, version, last_ping_at, began_at, last_duration_ms, last_rid, expected_at,
      alert_at, runs
    )`
}
