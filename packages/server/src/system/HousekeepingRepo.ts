import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { dayMs } from "../platform/millis.ts"
import { firstIdAt } from "../runner/RunId.ts"

/** Removes rows whose time is over. Nobody sees them any more: every reader asks for the time too. */
export class HousekeepingRepo extends Context.Service<
  HousekeepingRepo,
  {
    readonly removeExpired: (now: Date) => Effect.Effect<void>
    /** Delayed tasks that were done or cancelled go with their history. */
    readonly removeEndedTasks: (endedBefore: Date) => Effect.Effect<void>
    /**
     * The history of what was cancelled long before it was due: it is kept with the day that it was
     * due, which may be a year ahead.
     */
    readonly removeEndedAhead: (from: Date, endedBefore: Date) => Effect.Effect<void>
    readonly removeAuditEvents: (before: Date) => Effect.Effect<void>
    /** Takes the words out of the audit events of workspaces and accounts that are gone. */
    readonly eraseAuditEvents: Effect.Effect<void>
  }
>()("@scheduling/server/system/HousekeepingRepo") {
  static readonly layer: Layer.Layer<HousekeepingRepo, never, SqlClient.SqlClient> = Layer.effect(
    HousekeepingRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const eraseAll = Effect.fnUntraced(function* (isOwned: Statement.Fragment) {
        let erased: number
        do {
          const rows = yield* sql`
            UPDATE audit_events
            SET details = '{}', request_id = NULL
            WHERE id IN (
              SELECT id
              FROM audit_events
              WHERE ${isOwned}
                AND (details <> '{}' OR request_id IS NOT NULL)
              LIMIT ${batch}
            )
            RETURNING id`
          erased = rows.length
        } while (erased === batch)
      })

      return HousekeepingRepo.of({
        removeExpired: Effect.fn("HousekeepingRepo.removeExpired")(function* (now) {
          yield* sql`
            DELETE FROM sessions
            WHERE expires_at <= ${now}`
          yield* sql`
            DELETE FROM login_throttle
            WHERE window_ends_at <= ${now}`
          yield* sql`
            DELETE FROM idempotent_requests
            WHERE created_at <= ${new Date(now.getTime() - dayMs)}`
          yield* sql`
            DELETE FROM signing_secrets
            WHERE expires_at <= ${now}`
        }, Effect.orDie),

        removeEndedTasks: Effect.fn("HousekeepingRepo.removeEndedTasks")(function* (endedBefore) {
          // Without an index that each run of a delayed task would have to write. What ended then was
          // made before, so the ids leave out what is younger, and mostly that is all of it.
          const until = firstIdAt(endedBefore.getTime() + dayMs)
          let after: string | undefined = firstIdAt(0)
          while (after !== undefined) {
            const [last]: ReadonlyArray<{ readonly id: string }> = yield* sql<{
              readonly id: string
            }>`
              WITH looked_at AS MATERIALIZED (
                SELECT id, kind, status, run_at, updated_at
                FROM tasks
                WHERE id > ${after}
                  AND id < ${until}
                ORDER BY id
                LIMIT ${batch}
              ), removed AS (
                DELETE FROM tasks
                WHERE id = ANY (ARRAY (
                    SELECT id
                    FROM looked_at
                    WHERE kind = 'delayed'
                      AND CASE status
                        WHEN 'finished' THEN run_at < ${endedBefore}
                        WHEN 'cancelled' THEN updated_at < ${endedBefore}
                      END
                  ))
              )
              SELECT id
              FROM looked_at
              ORDER BY id DESC
              LIMIT 1`
            after = last?.id
          }
        }, Effect.orDie),

        removeEndedAhead: Effect.fn("HousekeepingRepo.removeEndedAhead")(function* (
          from,
          endedBefore
        ) {
          yield* sql`
            DELETE FROM executions
            WHERE id >= ${firstIdAt(from.getTime())}
              AND finished_at < ${endedBefore}`
        }, Effect.orDie),

        removeAuditEvents: Effect.fn("HousekeepingRepo.removeAuditEvents")(function* (before) {
          let removed: number
          do {
            const rows = yield* sql`
              DELETE FROM audit_events
              WHERE id IN (
                SELECT id
                FROM audit_events
                WHERE id < ${firstIdAt(before.getTime())}
                ORDER BY id
                LIMIT ${batch}
              )
              RETURNING id`
            removed = rows.length
          } while (removed === batch)
        }, Effect.orDie),

        eraseAuditEvents: Effect.gen(function* () {
          const owners = yield* sql<{ readonly id: string }>`
            SELECT owner_id AS id
            FROM audit_erasures`
          for (const { id } of owners) {
            yield* eraseAll(sql`workspace_id = ${id}`)
            yield* eraseAll(sql`user_id = ${id}`)
            yield* sql`
              DELETE FROM audit_erasures
              WHERE owner_id = ${id}`
          }
        }).pipe(Effect.orDie, Effect.withSpan("HousekeepingRepo.eraseAuditEvents"))
      })
    })
  )
}

/** So that no statement runs into its timeout, however much there is. */
const batch = 5_000
