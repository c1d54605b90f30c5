import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { findNextCheck, type MonitorReads, monitorReads } from "../MonitorReads.ts"
import { monitorColumns } from "../MonitorsRepo.ts"
import type { SslState } from "./decideLook.ts"
import type { LookedAtRow, SslRow, SslSettings } from "./SslRow.ts"

interface Place {
  readonly monitor_id: string
  readonly workspace_id: AuthorizedWorkspaceId
}

export class SslMonitorsRepo extends Context.Service<
  SslMonitorsRepo,
  MonitorReads<SslRow> & {
    readonly insert: (
      monitor: SslSettings & Place & { readonly check_at: Date }
    ) => Effect.Effect<void>
    /** Locks it, with the row of its status. */
    readonly findForUpdate: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<LookedAtRow>>
    /**
     * Takes some that are due, for as long as a look may take: after that another node may. Few of
     * one workspace at once, so that servers which do not answer keep nobody else's from their turn.
     */
    readonly findDueForUpdate: (
      now: Date,
      options: {
        readonly limit: number
        readonly ofWorkspace: number
        readonly until: Date
        /** Those who have their share already. */
        readonly busy: ReadonlyArray<string>
      }
    ) => Effect.Effect<ReadonlyArray<LookedAtRow>>
    readonly findNextCheck: Effect.Effect<Date | undefined>
    readonly updateFound: (
      row: Place,
      state: SslState,
      now: Date,
      checkAt: Date
    ) => Effect.Effect<void>
    /** A look that failed by other settings does not count. */
    readonly updateSettings: (row: Place, settings: SslSettings) => Effect.Effect<void>
    /** Nothing is known of another target yet. */
    readonly updateUnseen: (row: Place) => Effect.Effect<void>
    /**
     * When it is looked at next, be it under way now or not. That look confirms no failure before it.
     */
    readonly updateCheck: (row: Place, checkAt: Date | null) => Effect.Effect<void>
  }
>()("@scheduling/server/monitoring/ssl/SslMonitorsRepo") {
  static readonly layer: Layer.Layer<SslMonitorsRepo, never, SqlClient.SqlClient> = Layer.effect(
    SslMonitorsRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const lookedAt = sql.literal(`
        s.monitor_id, s.workspace_id, m.key, s.version, m.status, s.host, s.port, s.server_name, s.protocol,
        s.warn_days, s.check_interval_seconds, s.failures, s.verification, s.message,
        s.certificate, s.seen`)
      const listed = (now: Date) => sql`
        ${monitorColumns(sql, now)},
          s.host, s.port, s.server_name, s.protocol, s.warn_days, s.check_interval_seconds,
          s.check_at, s.last_check_at, s.failures, s.verification, s.message, s.certificate, s.seen
        FROM monitors AS m
        JOIN ssl_monitors AS s ON s.monitor_id = m.id
        LEFT JOIN heartbeats AS h ON h.monitor_id = m.id`
      const is = ({ monitor_id, workspace_id }: Place) => sql`
        workspace_id = ${workspace_id}
        AND monitor_id = ${monitor_id}`

      return SslMonitorsRepo.of({
        insert: Effect.fn("SslMonitorsRepo.insert")(function* (monitor) {
          yield* sql`
            INSERT INTO ssl_monitors (
              monitor_id, workspace_id, host, port, server_name, protocol, warn_days,
              check_interval_seconds, check_at
            )
            VALUES (
              ${monitor.monitor_id}, ${monitor.workspace_id}, ${monitor.host}, ${monitor.port},
              ${monitor.server_name}, ${monitor.protocol}, ${monitor.warn_days}::int[],
              ${monitor.check_interval_seconds}, ${monitor.check_at}
            )`
        }, Effect.orDie),

        ...monitorReads<SslRow>(sql, "ssl", listed),

        findForUpdate: Effect.fn("SslMonitorsRepo.findForUpdate")(function* (workspaceId, id) {
          const rows = yield* sql<LookedAtRow>`
            SELECT ${lookedAt}
            FROM ssl_monitors AS s
            JOIN monitors AS m ON m.id = s.monitor_id
            WHERE s.workspace_id = ${workspaceId}
              AND s.monitor_id = ${id}
            FOR UPDATE OF s, m`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        findDueForUpdate: Effect.fn("SslMonitorsRepo.findDueForUpdate")(function* (now, options) {
          return yield* sql<LookedAtRow>`
            WITH due AS (
              SELECT monitor_id, workspace_id, check_at
              FROM ssl_monitors
              WHERE check_at <= ${now}
                AND workspace_id <> ALL (${options.busy}::uuid[])
              ORDER BY check_at
              LIMIT ${mostLookedThrough}
            ), placed AS (
              SELECT
                monitor_id,
                check_at,
                row_number() OVER (PARTITION BY workspace_id ORDER BY check_at) AS place
              FROM due
            ), chosen AS MATERIALIZED (
              SELECT ssl_monitors.monitor_id
              FROM ssl_monitors
              WHERE check_at <= ${now}
                AND monitor_id IN (
                  SELECT monitor_id
                  FROM placed
                  WHERE place <= ${options.ofWorkspace}
                  ORDER BY place, check_at
                  LIMIT ${options.limit}
                )
              FOR UPDATE SKIP LOCKED
            )
            UPDATE ssl_monitors AS s
            SET check_at = ${options.until}, version = s.version + 1
            FROM monitors AS m
            WHERE s.monitor_id IN (SELECT chosen.monitor_id FROM chosen)
              AND m.id = s.monitor_id
            RETURNING ${lookedAt}`
        }, Effect.orDie),

        findNextCheck: findNextCheck(sql, "ssl_monitors"),

        updateFound: Effect.fn("SslMonitorsRepo.updateFound")(function* (row, state, now, checkAt) {
          yield* sql`
            UPDATE ssl_monitors
            SET
              version = version + 1,
              check_at = ${checkAt},
              last_check_at = ${now},
              failures = ${state.failures},
              verification = ${state.verification},
              message = ${state.message},
              certificate = ${state.certificate === null ? null : JSON.stringify(state.certificate)}::jsonb,
              seen = ${JSON.stringify(state.seen)}::jsonb
            WHERE ${is(row)}`
        }, Effect.orDie),

        updateSettings: Effect.fn("SslMonitorsRepo.updateSettings")(function* (row, settings) {
          yield* sql`
            UPDATE ssl_monitors
            SET
              version = version + 1,
              host = ${settings.host},
              port = ${settings.port},
              server_name = ${settings.server_name},
              protocol = ${settings.protocol},
              warn_days = ${settings.warn_days}::int[],
              check_interval_seconds = ${settings.check_interval_seconds},
              failures = 0
            WHERE ${is(row)}`
        }, Effect.orDie),

        updateUnseen: Effect.fn("SslMonitorsRepo.updateUnseen")(function* (row) {
          yield* sql`
            UPDATE ssl_monitors
            SET
              last_check_at = NULL,
              verification = NULL,
              message = NULL,
              certificate = NULL,
              seen = '[]'::jsonb
            WHERE ${is(row)}`
        }, Effect.orDie),

        updateCheck: Effect.fn("SslMonitorsRepo.updateCheck")(function* (row, checkAt) {
          yield* sql`
            UPDATE ssl_monitors
            SET version = version + 1, check_at = ${checkAt}, failures = 0
            WHERE ${is(row)}`
        }, Effect.orDie)
      })
    })
  )
}

/** Of a backlog. More of it is read when this has been looked at. */
const mostLookedThrough = 5_000
