import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Who wants no more mails from a workspace, whatever becomes of the channels to them. Of the
  // address there is only a MAC. `asked_at` is when they were asked once more.
  yield* sql`
    CREATE TABLE notification_refusals (
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      address_hash text NOT NULL,
      refused_at timestamptz NOT NULL,
      asked_at timestamptz,
      PRIMARY KEY (workspace_id, address_hash)
    )`
})
