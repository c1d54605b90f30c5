import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What is over, by when it ended. Call-backs that were delivered are kept for a shorter time, and
  // each delivery is in one of the two.
  yield* sql`
    CREATE INDEX notification_deliveries_ended ON notification_deliveries (finished_at)
    WHERE finished_at IS NOT NULL AND (channel_id IS NOT NULL OR status <> 'delivered')`
  yield* sql`
    CREATE INDEX notification_deliveries_called_back ON notification_deliveries (finished_at)
    WHERE channel_id IS NULL AND status = 'delivered'`
})
