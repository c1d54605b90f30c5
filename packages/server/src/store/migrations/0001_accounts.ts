import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `lane` decides whose turn it is when many runs wait: see ADR 19.
  yield* sql`
    CREATE TABLE users (
      id uuid PRIMARY KEY,
      email text NOT NULL UNIQUE,
      name text,
      password_hash text NOT NULL,
      lane bigint NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL
    )`

  // The refresh token of a session is a signed JWT that carries the generation. A rotation is one
  // compare-and-set on this number, and the database holds nothing that could be replayed.
  yield* sql`
    CREATE TABLE sessions (
      id uuid PRIMARY KEY,
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      user_agent text,
      ip text,
      generation integer NOT NULL DEFAULT 1,
      rotated_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX sessions_by_user ON sessions (user_id, id DESC)`
  yield* sql`CREATE INDEX sessions_by_expiry ON sessions (expires_at)`

  yield* sql`
    CREATE TABLE login_throttle (
      subject text PRIMARY KEY,
      failures integer NOT NULL,
      attempts integer NOT NULL,
      window_ends_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX login_throttle_by_end ON login_throttle (window_ends_at)`

  yield* sql`
    CREATE TABLE workspaces (
      id uuid PRIMARY KEY,
      name text NOT NULL,
      lane bigint NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL
    )`

  yield* sql`
    CREATE TABLE memberships (
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      role text NOT NULL CHECK (role IN ('owner')),
      created_at timestamptz NOT NULL,
      PRIMARY KEY (user_id, workspace_id)
    )`
  yield* sql`CREATE INDEX memberships_by_workspace ON memberships (workspace_id)`

  yield* sql`
    CREATE TABLE api_keys (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      name text NOT NULL,
      key_hash text NOT NULL UNIQUE,
      key_prefix text NOT NULL,
      scopes text[] NOT NULL,
      created_by uuid REFERENCES users ON DELETE SET NULL,
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz,
      created_at timestamptz NOT NULL
    ) WITH (fillfactor = 90)`
  yield* sql`CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id, id DESC)`

  yield* sql`
    CREATE TABLE signing_secrets (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      sealed_secret text NOT NULL,
      expires_at timestamptz,
      created_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX signing_secrets_by_workspace ON signing_secrets (workspace_id, id DESC)`

  // No foreign keys, because events stay on record when the things they are about are gone.
  yield* sql`
    CREATE TABLE audit_events (
      id uuid PRIMARY KEY,
      action text NOT NULL,
      workspace_id uuid,
      user_id uuid,
      actor_id uuid,
      target_id text,
      ip text,
      request_id text,
      details jsonb NOT NULL,
      created_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX audit_events_by_workspace ON audit_events (workspace_id, id DESC)`
  yield* sql`
    CREATE INDEX audit_events_by_actor ON audit_events (workspace_id, actor_id, id DESC)`
  yield* sql`
    CREATE INDEX audit_events_by_target ON audit_events (workspace_id, target_id, id DESC)`
  yield* sql`
    CREATE INDEX audit_events_by_user ON audit_events (user_id)
    WHERE user_id IS NOT NULL`

  // Workspaces and accounts that are gone, but whose events still contain names.
  yield* sql`CREATE TABLE audit_erasures (owner_id uuid PRIMARY KEY)`

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
