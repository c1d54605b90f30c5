import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Confirmed by no link, but because the address is that of a member. It ends with the membership.
  yield* sql`
    ALTER TABLE notification_channels
    ADD COLUMN by_membership boolean NOT NULL DEFAULT false`
  yield* sql`
    UPDATE notification_channels
    SET by_membership = true
    FROM memberships
    JOIN users ON users.id = memberships.user_id
    WHERE memberships.workspace_id = notification_channels.workspace_id
      AND notification_channels.kind = 'email'
      AND notification_channels.confirmed
      AND users.email_verified_at IS NOT NULL
      AND users.email = lower(notification_channels.config ->> 'to')`
})
