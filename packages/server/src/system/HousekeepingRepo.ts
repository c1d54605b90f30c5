import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dayMs } from "../platform/millis.ts"

/** Removes rows whose time is over. Nobody sees them any more: every reader asks for the time too. */
export class HousekeepingRepo extends Context.Service<
  HousekeepingRepo,
  {
    readonly removeExpired: (now: Date) => Effect.Effect<void>
    /** Delayed tasks that were done or cancelled go with their history. */
    readonly removeEndedTasks: (dueBefore: Date) => Effect.Effect<void>
  }
>()("@scheduling/server/system/HousekeepingRepo") {
  static readonly layer: Layer.Layer<HousekeepingRepo, never, SqlClient.SqlClient> = Layer.effect(
    HousekeepingRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

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

        removeEndedTasks: Effect.fn("HousekeepingRepo.removeEndedTasks")(function* (dueBefore) {
          yield* sql`
            DELETE FROM tasks
            WHERE kind = 'delayed'
              AND status <> 'pending'
              AND run_at < ${dueBefore}`
        }, Effect.orDie)
      })
    })
  )
}
