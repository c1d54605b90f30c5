import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Requests that were sent with an idempotency key. */
export const http = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A row is owned by a workspace, or by the user if it belongs to no workspace. It is deleted with
  // its owner.
  yield* sql`
    CREATE TABLE idempotent_requests (
      owner_id uuid NOT NULL,
      principal_id uuid NOT NULL,
      operation text NOT NULL,
      key text NOT NULL,
      request_hash text NOT NULL,
      sealed_answer text,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (owner_id, principal_id, operation, key)
    )`
  yield* sql`CREATE INDEX idempotent_requests_by_age ON idempotent_requests (created_at)`
})
