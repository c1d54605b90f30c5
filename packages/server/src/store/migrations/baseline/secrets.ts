import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Secrets of workspaces, and the access tokens that are obtained with them. */
export const secrets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE secrets (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      name text NOT NULL,
      description text,
      allowed_hosts text[] NOT NULL,
      sealed_value text NOT NULL,
      value_set_at timestamptz NOT NULL,
      created_by jsonb,
      updated_by jsonb,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (workspace_id, name)
    )`
  yield* sql`CREATE INDEX secrets_by_workspace ON secrets (workspace_id, id DESC)`
  // Returns the names of the secrets that a text refers to, or null if there are none.
  yield* sql`
    CREATE FUNCTION secret_names_in(source text) RETURNS text[]
    LANGUAGE sql
    IMMUTABLE
    AS $$
      SELECT CASE
        WHEN strpos(source, '{{') > 0 THEN (
          SELECT array_agg(DISTINCT found[1])
          FROM regexp_matches(source, '{{[[:space:]]*secrets[.]([A-Z][A-Z0-9_]{0,62})[[:space:]]*}}', 'g') AS found
        )
      END
    $$`

  // The id is a keyed hash of the token request. Until `asking_until`, one node is requesting a
  // token, or all nodes wait because the last request failed for the reason in `error`.
  yield* sql`
    CREATE TABLE access_tokens (
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      id text NOT NULL,
      sealed_token text,
      obtained_at timestamptz,
      usable_until timestamptz,
      asking_until timestamptz,
      error text,
      PRIMARY KEY (workspace_id, id)
    )`
})
