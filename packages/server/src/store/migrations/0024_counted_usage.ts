import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Executions up to this ordinal are in usage_days, all others are not. Plans that limit a month
  // need usage within seconds, and statistics, which cost more to take in, have more time.
  yield* sql`
    ALTER TABLE execution_stats_progress
    ADD COLUMN counted_up_to bigint NOT NULL DEFAULT 0`
  yield* sql`UPDATE execution_stats_progress SET counted_up_to = rolled_up_to`
})
