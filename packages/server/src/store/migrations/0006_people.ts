import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `warn_at` is when the workspace is told next that the key expires.
  yield* sql`
    ALTER TABLE api_keys
      ADD COLUMN allowed_ips text[],
      ADD COLUMN warn_at timestamptz`
  yield* sql`
    CREATE INDEX api_keys_to_warn ON api_keys (warn_at)
    WHERE warn_at IS NOT NULL`

  yield* sql`
    ALTER TABLE memberships
      DROP CONSTRAINT memberships_role_check,
      ADD CONSTRAINT memberships_role_check CHECK (role IN ('viewer', 'editor', 'admin', 'owner'))`

  // Of the token that the invited person has there is only a MAC. An invitation ends with its
  // maker's membership.
  yield* sql`
    CREATE TABLE invitations (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      email text NOT NULL,
      role text NOT NULL CHECK (role IN ('viewer', 'editor', 'admin', 'owner')),
      token_hash text NOT NULL UNIQUE,
      invited_by uuid NOT NULL,
      expires_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL,
      UNIQUE (workspace_id, email),
      FOREIGN KEY (invited_by, workspace_id) REFERENCES memberships ON DELETE CASCADE
    )`
  yield* sql`CREATE INDEX invitations_by_workspace ON invitations (workspace_id, id DESC)`
  yield* sql`CREATE INDEX invitations_by_maker ON invitations (invited_by, workspace_id)`
  yield* sql`CREATE INDEX invitations_by_email ON invitations (email)`

  // `last_step` is the step of the last code that was used, so that each works once.
  yield* sql`
    CREATE TABLE totp (
      user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
      sealed_secret text NOT NULL,
      last_step bigint NOT NULL DEFAULT 0,
      confirmed_at timestamptz,
      created_at timestamptz NOT NULL
    )`
  yield* sql`
    CREATE TABLE recovery_codes (
      user_id uuid NOT NULL REFERENCES totp ON DELETE CASCADE,
      code_hash text NOT NULL,
      PRIMARY KEY (user_id, code_hash)
    )`

  // Of the token there is only a MAC.
  yield* sql`
    CREATE TABLE user_links (
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      purpose text NOT NULL CHECK (purpose IN ('password reset', 'email')),
      token_hash text NOT NULL UNIQUE,
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (user_id, purpose)
    )`

  // An operator may keep somebody out. A new email waits until its owner has opened a link.
  yield* sql`
    ALTER TABLE users
      ADD COLUMN disabled_at timestamptz,
      ADD COLUMN email_verified_at timestamptz,
      ADD COLUMN pending_email text`

  // The chain of a workspace's events. An event is linked within a second after its change.
  yield* sql`
    ALTER TABLE audit_events
      ADD COLUMN ordinal integer,
      ADD COLUMN previous_hash text,
      ADD COLUMN previous_at timestamptz,
      ADD COLUMN details_mac text,
      ADD COLUMN hash text`
  yield* sql`
    CREATE INDEX audit_events_unlinked ON audit_events (workspace_id)
    WHERE ordinal IS NULL AND workspace_id IS NOT NULL`
  yield* sql`
    CREATE UNIQUE INDEX audit_events_by_ordinal ON audit_events (workspace_id, ordinal)
    WHERE ordinal IS NOT NULL`
  // No foreign key: events stay on record when their workspace is gone.
  yield* sql`
    CREATE TABLE audit_chains (
      workspace_id uuid PRIMARY KEY,
      ordinal integer NOT NULL,
      hash text NOT NULL,
      at timestamptz
    )`

  // Which scopes a key has used, and from where.
  yield* sql`
    CREATE TABLE api_key_uses (
      api_key_id uuid NOT NULL REFERENCES api_keys ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('scope', 'address', 'refused_address')),
      what text NOT NULL,
      last_used_at timestamptz NOT NULL,
      PRIMARY KEY (api_key_id, kind, what)
    ) WITH (fillfactor = 90)`
})
