import { keyUsageDays } from "@scheduling/domain/api-keys/ApiKeyUsage"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { dayMs, runAllInSequence } from "../core/index.ts"
import { firstIdAt, deleteUnusedFlows } from "../engine/index.ts"
import { repeatUntilFewerThan } from "../store/index.ts"

/** Deletes expired rows. Code that reads such rows checks the expiry itself. */
export class HousekeepingRepo extends Context.Service<
  HousekeepingRepo,
  {
    readonly removeExpired: (now: Date) => Effect.Effect<void>
    /** Deletes finished and cancelled delayed tasks together with their history. */
    readonly removeEndedTasks: (endedBefore: Date) => Effect.Effect<void>
    /**
     * Deletes the history of runs that were cancelled long before they were due. This history is in
     * the partition of the day on which the run was due, which may be a year ahead.
     */
    readonly removeEndedAhead: (from: Date, endedBefore: Date) => Effect.Effect<void>
    /** Deletes the progress of runs that finished before this time. */
    readonly removeProgress: (before: Date) => Effect.Effect<void>
    readonly removeInputs: (before: Date) => Effect.Effect<void>
    readonly removeReplacedCalls: (before: Date) => Effect.Effect<void>
    readonly removeAuditEvents: (before: Date) => Effect.Effect<void>
    /** Deletes the keys of flows that no run uses. */
    readonly deleteUnusedFlows: Effect.Effect<void>
    /** Removes names and other details from audit events of deleted workspaces and accounts. */
    readonly eraseAuditEvents: Effect.Effect<void>
  }
>()("@scheduling/server/operations/HousekeepingRepo") {
  static readonly layer: Layer.Layer<HousekeepingRepo, never, SqlClient.SqlClient> = Layer.effect(
    HousekeepingRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const eraseAll = (isOwned: Statement.Fragment) =>
        repeatUntilFewerThan(
          batch,
          sql`
            UPDATE audit_events
            SET details = '{}', details_salt = NULL, request_id = NULL
            WHERE id IN (
              SELECT id
              FROM audit_events
              WHERE ${isOwned}
                AND (details <> '{}' OR details_salt IS NOT NULL OR request_id IS NOT NULL)
              LIMIT ${batch}
            )
            RETURNING id`
        )

      /** Skips locked rows, because a transaction may be renewing the expired row. */
      const removeWhere = (table: string, isOver: Statement.Fragment) =>
        repeatUntilFewerThan(
          batch,
          sql`
            DELETE FROM ${sql(table)}
            WHERE ctid = ANY (ARRAY (
                SELECT ctid
                FROM ${sql(table)}
                WHERE ${isOver}
                LIMIT ${batch}
                FOR UPDATE SKIP LOCKED
              ))
            RETURNING 1`
        )

      const removeOlder = (table: string, id: string, before: Date, unless = sql`false`) =>
        repeatUntilFewerThan(
          batch,
          sql`
            DELETE FROM ${sql(table)}
            WHERE ${sql(id)} IN (
              SELECT ${sql(id)}
              FROM ${sql(table)}
              WHERE ${sql(id)} < ${firstIdAt(before.getTime())}
                AND NOT ${unless}
              ORDER BY ${sql(id)}
              LIMIT ${batch}
            )
            RETURNING ${sql(id)}`
        )

      return HousekeepingRepo.of({
        removeExpired: Effect.fn("HousekeepingRepo.removeExpired")(function* (now) {
          const daysAgo = (days: number) => new Date(now.getTime() - days * dayMs)
          const hasExpired = sql`expires_at <= ${now}`
          yield* runAllInSequence([
            removeWhere("sessions", hasExpired),
            removeWhere("login_throttle", sql`window_ends_at <= ${now}`),
            removeWhere("idempotent_requests", sql`created_at <= ${daysAgo(1)}`),
            removeWhere("signing_secrets", hasExpired),
            removeWhere("user_links", hasExpired),
            removeWhere("invitations", hasExpired),
            removeWhere("api_key_uses", sql`last_used_at <= ${daysAgo(keyUsageDays)}`),
            removeWhere("billing_events", sql`received_at <= ${daysAgo(30)}`),
            removeWhere(
              "usage_days",
              sql`
                day < ${daysAgo(meteredDays)}::timestamptz::date
                  AND last_seats IS NULL
                  AND last_monitors IS NULL`
            ),
            removeWhere("quota_notices", sql`since < ${daysAgo(60)}::timestamptz::date`)
          ])
        }, Effect.orDie),

        removeEndedTasks: Effect.fn("HousekeepingRepo.removeEndedTasks")(function* (endedBefore) {
          // No index on the end of a task exists, because each run of a delayed task would have to
          // update it. A task that finished before `endedBefore` was also created before then, so
          // the range of ids excludes younger tasks.
          const until = firstIdAt(endedBefore.getTime() + dayMs)
          let after: string | undefined = firstIdAt(0)
          while (after !== undefined) {
            const [last]: ReadonlyArray<{ readonly id: string }> = yield* sql<{
              readonly id: string
            }>`
              WITH candidates AS MATERIALIZED (
                SELECT id, kind, status, coalesce(ended_at, run_at) AS ended_at, updated_at
                FROM tasks
                WHERE id > ${after}
                  AND id < ${until}
                ORDER BY id
                LIMIT ${batch}
              ), removed AS (
                DELETE FROM tasks
                WHERE id = ANY (ARRAY (
                    SELECT id
                    FROM candidates
                    WHERE kind = 'delayed'
                      AND CASE status
                        WHEN 'finished' THEN ended_at < ${endedBefore}
                        WHEN 'cancelled' THEN updated_at < ${endedBefore}
                      END
                  ))
              )
              SELECT id
              FROM candidates
              ORDER BY id DESC
              LIMIT 1`
            after = last?.id
          }
        }, Effect.orDie),

        removeEndedAhead: Effect.fn("HousekeepingRepo.removeEndedAhead")(function* (
          from,
          endedBefore
        ) {
          const first = firstIdAt(from.getTime())
          yield* repeatUntilFewerThan(
            batch,
            sql`
              DELETE FROM executions
              WHERE id >= ${first}
                AND id = ANY (ARRAY (
                  SELECT id
                  FROM executions
                  WHERE id >= ${first}
                    AND finished_at < ${endedBefore}
                  LIMIT ${batch}
                ))
              RETURNING id`
          )
        }, Effect.orDie),

        removeProgress: Effect.fn("HousekeepingRepo.removeProgress")(function* (before) {
          const goesOn = sql`EXISTS (
            SELECT
            FROM runs
            WHERE runs.workspace_id = progress.workspace_id
              AND runs.id = progress.execution_id
          )`
          yield* removeOlder("progress", "execution_id", before, goesOn)
        }, Effect.orDie),

        removeInputs: Effect.fn("HousekeepingRepo.removeInputs")(function* (before) {
          const goesOn = sql`EXISTS (
            SELECT
            FROM runs
            WHERE runs.workspace_id = run_inputs.workspace_id
              AND (runs.id = run_inputs.id OR runs.chain_run_id = run_inputs.id)
          )`
          yield* removeOlder("run_inputs", "id", before, goesOn)
        }, Effect.orDie),

        removeReplacedCalls: Effect.fn("HousekeepingRepo.removeReplacedCalls")(function* (before) {
          yield* removeWhere("replaced_calls", sql`replaced_at < ${before}`)
        }, Effect.orDie),

        removeAuditEvents: Effect.fn("HousekeepingRepo.removeAuditEvents")(function* (before) {
          yield* removeOlder("audit_events", "id", before)
        }, Effect.orDie),

        deleteUnusedFlows: Effect.withSpan(
          deleteUnusedFlows(sql),
          "HousekeepingRepo.deleteUnusedFlows"
        ),

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

/**
 * The number of days for which usage is kept: three years. Days on which seats or monitors changed
 * are kept forever.
 */
const meteredDays = 3 * 366

/** The number of rows per statement, so that no statement times out. */
const batch = 5_000
