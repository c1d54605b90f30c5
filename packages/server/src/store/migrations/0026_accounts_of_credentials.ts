import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The lane of the account (ADR 19) beside each credential, so that what an account may hold of a
  // node is known from the row that every request reads anyway.
  yield* sql`
    ALTER TABLE api_keys
    ADD COLUMN lane bigint NOT NULL DEFAULT 0`
  yield* sql`
    UPDATE api_keys
    SET lane = workspaces.lane
    FROM workspaces
    WHERE workspaces.id = api_keys.workspace_id`
  yield* sql`
    CREATE TRIGGER api_keys_lane BEFORE INSERT ON api_keys
    FOR EACH ROW EXECUTE FUNCTION lane_of_workspace()`
  yield* sql`
    ALTER TABLE ping_urls
    ADD COLUMN lane bigint NOT NULL DEFAULT 0`
  yield* sql`
    UPDATE ping_urls
    SET lane = workspaces.lane
    FROM workspaces
    WHERE workspaces.id = ping_urls.workspace_id`
  yield* sql`
    CREATE TRIGGER ping_urls_lane BEFORE INSERT ON ping_urls
    FOR EACH ROW EXECUTE FUNCTION lane_of_workspace()`
  yield* sql`
    ALTER TABLE sessions
    ADD COLUMN lane bigint NOT NULL DEFAULT 0`
  yield* sql`
    UPDATE sessions
    SET lane = users.lane
    FROM users
    WHERE users.id = sessions.user_id`

  // Addresses are compared as they are stored, in one spelling.
  yield* sql`
    UPDATE notification_channels
    SET config = jsonb_set(config, '{to}', to_jsonb(lower(config ->> 'to')))
    WHERE kind = 'email'
      AND config ? 'to'`
})
