import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Users and their login methods, workspaces, members, API keys, and the audit log. */
export const accounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE workspaces (
      id uuid PRIMARY KEY,
      name text NOT NULL,
      lane bigint NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL
    )`

  // Accounts take turns by `lane` when runs start: see ADR 19. `disabled_at` is set when an
  // operator disables the account. `pending_email` replaces `email` once its owner has opened the
  // emailed link. A service account is a user with a workspace, and without an email and a
  // password. If `has_password` is false, the hash is that of a random password that nobody knows.
  yield* sql`
    CREATE TABLE users (
      id uuid PRIMARY KEY,
      workspace_id uuid REFERENCES workspaces ON DELETE CASCADE,
      email text UNIQUE CHECK ((email IS NULL) = (workspace_id IS NOT NULL)),
      email_verified_at timestamptz,
      pending_email text,
      name text,
      password_hash text CHECK ((password_hash IS NULL) = (workspace_id IS NOT NULL)),
      has_password boolean NOT NULL DEFAULT true,
      lane bigint NOT NULL DEFAULT 0,
      disabled_at timestamptz,
      created_at timestamptz NOT NULL
    )`

  yield* sql`
    CREATE INDEX users_by_workspace ON users (workspace_id, id DESC)
    WHERE workspace_id IS NOT NULL`

  // The secrets of a service account. The old secret works until `old_secret_expires_at`.
  yield* sql`
    CREATE TABLE service_accounts (
      user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
      secret_hash text NOT NULL,
      secret_prefix text NOT NULL,
      old_secret_hash text,
      old_secret_expires_at timestamptz,
      last_used_at timestamptz,
      created_by uuid REFERENCES users ON DELETE SET NULL
    )`
  yield* sql`CREATE INDEX service_accounts_by_maker ON service_accounts (created_by)`

  // The refresh token of a session is a signed JWT that contains the generation. A rotation is one
  // compare-and-set on this number, and the database contains nothing that could be replayed.
  // `lane` is a copy of the user's lane, so that a request gets the limits of its account from the
  // row that it reads anyway.
  yield* sql`
    CREATE TABLE sessions (
      id uuid PRIMARY KEY,
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      lane bigint NOT NULL DEFAULT 0,
      user_agent text,
      ip text,
      began_with text NOT NULL DEFAULT 'password'
        CHECK (began_with IN ('password', 'provider', 'passkey', 'proxy', 'link')),
      generation integer NOT NULL DEFAULT 1,
      rotated_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX sessions_by_user ON sessions (user_id, id DESC)`
  yield* sql`CREATE INDEX sessions_by_expiry ON sessions (expires_at)`

  // The account of a user at the identity provider.
  yield* sql`
    CREATE TABLE identities (
      issuer text NOT NULL,
      subject text NOT NULL,
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (issuer, subject),
      UNIQUE (user_id, issuer)
    )`

  // `counter` counts the uses of a passkey on its device. It stays at 0 for passkeys that are
  // copied to several devices.
  yield* sql`
    CREATE TABLE passkeys (
      id uuid PRIMARY KEY,
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      name text NOT NULL,
      credential_id text NOT NULL UNIQUE,
      public_key text NOT NULL,
      counter bigint NOT NULL,
      last_used_at timestamptz,
      created_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX passkeys_by_user ON passkeys (user_id, id DESC)`

  // Challenges that a passkey has signed, so that each works once.
  yield* sql`
    CREATE TABLE used_challenges (
      challenge_hash text PRIMARY KEY,
      expires_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_at)`

  // A session that began at the identity provider, and when the provider was last asked about the
  // user. `sealed_token` is the provider's refresh token. Null if the provider gave none.
  yield* sql`
    CREATE TABLE provider_sessions (
      session_id uuid PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
      sealed_token text,
      checked_at timestamptz NOT NULL
    )`

  yield* sql`
    CREATE TABLE login_throttle (
      subject text PRIMARY KEY,
      failures integer NOT NULL,
      attempts integer NOT NULL,
      window_ends_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX login_throttle_by_end ON login_throttle (window_ends_at)`

  // `last_step` is the time step of the last used code, so that each code works only once.
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

  // Links that reset a password, verify an email or sign in. `token_hash` is a MAC of the token,
  // which is not stored. `mailed` means that the token was emailed, so that using it verifies the
  // address. Using a token from an operator verifies nothing.
  yield* sql`
    CREATE TABLE user_links (
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      purpose text NOT NULL CHECK (purpose IN ('password reset', 'email', 'sign in')),
      token_hash text NOT NULL UNIQUE,
      mailed boolean NOT NULL DEFAULT false,
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (user_id, purpose)
    )`

  // A trigger copies the lane into each row, because rows are inserted in many places and nobody
  // would notice a wrong lane.
  yield* sql`
    CREATE FUNCTION lane_of_workspace() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      NEW.lane := coalesce((SELECT lane FROM workspaces WHERE id = NEW.workspace_id), 0);
      RETURN NEW;
    END
    $$`

  // `from_claim` means that a claim from the identity provider granted the role. The role is
  // revoked when the claim is gone.
  yield* sql`
    CREATE TABLE memberships (
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      role text NOT NULL CHECK (role IN ('viewer', 'editor', 'admin', 'owner')),
      from_claim boolean NOT NULL DEFAULT false CHECK (NOT from_claim OR role <> 'owner'),
      created_at timestamptz NOT NULL,
      PRIMARY KEY (user_id, workspace_id)
    )`
  yield* sql`CREATE INDEX memberships_by_workspace ON memberships (workspace_id)`

  // `token_hash` is a MAC of the invited person's token. An invitation is deleted with the
  // membership of the user who created it.
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

  // `warn_at` is when the workspace is next notified that the key expires. `successor_id` is the
  // key that replaced this key in a rotation. The successor may be deleted earlier. `lane` is a
  // copy of the account's lane: see `sessions`.
  yield* sql`
    CREATE TABLE api_keys (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      lane bigint NOT NULL DEFAULT 0,
      name text NOT NULL,
      key_hash text NOT NULL UNIQUE,
      key_prefix text NOT NULL,
      scopes text[] NOT NULL,
      allowed_ips text[],
      created_by uuid REFERENCES users ON DELETE SET NULL,
      successor_id uuid,
      expires_at timestamptz,
      warn_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz,
      created_at timestamptz NOT NULL
    ) WITH (fillfactor = 90)`
  yield* sql`CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id, id DESC)`
  yield* sql`
    CREATE INDEX api_keys_to_warn ON api_keys (warn_at)
    WHERE warn_at IS NOT NULL`
  yield* sql`
    CREATE TRIGGER api_keys_lane BEFORE INSERT ON api_keys
    FOR EACH ROW EXECUTE FUNCTION lane_of_workspace()`

  // The scopes that a key has used, and the addresses from which it was used.
  yield* sql`
    CREATE TABLE api_key_uses (
      api_key_id uuid NOT NULL REFERENCES api_keys ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('scope', 'address', 'refused_address')),
      what text NOT NULL,
      last_used_at timestamptz NOT NULL,
      PRIMARY KEY (api_key_id, kind, what)
    ) WITH (fillfactor = 90)`

  yield* sql`
    CREATE TABLE signing_secrets (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      sealed_secret text NOT NULL,
      expires_at timestamptz,
      created_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX signing_secrets_by_workspace ON signing_secrets (workspace_id, id DESC)`

  // The events of the whole service form one hash chain. An event has a MAC as soon as it is
  // written, and is linked into the chain within a second. `details_salt` is deleted together with
  // the details, so that their hash reveals nothing about them. There are no foreign keys, because
  // events are kept when their subjects are deleted.
  yield* sql`
    CREATE TABLE audit_events (
      id uuid PRIMARY KEY,
      action text NOT NULL,
      workspace_id uuid,
      user_id uuid,
      actor_id uuid,
      subject_id text,
      ip text,
      request_id text,
      details jsonb NOT NULL,
      details_salt text,
      details_hash text,
      created_at timestamptz NOT NULL,
      mac text,
      ordinal bigint,
      previous_hash text,
      previous_at timestamptz,
      hash text
    )`
  // An unfiltered list reads the newest events of each action: see `AuditLog`.
  yield* sql`
    CREATE INDEX audit_events_by_action ON audit_events (workspace_id, action, id DESC)`
  yield* sql`
    CREATE INDEX audit_events_by_actor ON audit_events (workspace_id, actor_id, id DESC)`
  yield* sql`
    CREATE INDEX audit_events_by_subject ON audit_events (workspace_id, subject_id, id DESC)`
  // Changes that pause or resume a record, alone or together with other changes.
  yield* sql`
    CREATE INDEX audit_events_of_pauses ON audit_events (workspace_id, id DESC)
    WHERE details @> '{"changes": {"paused": [true]}}'`
  yield* sql`
    CREATE INDEX audit_events_by_user ON audit_events (user_id)
    WHERE user_id IS NOT NULL`
  yield* sql`
    CREATE INDEX audit_events_unlinked ON audit_events (id)
    WHERE ordinal IS NULL`
  yield* sql`
    CREATE UNIQUE INDEX audit_events_by_ordinal ON audit_events (ordinal)
    WHERE ordinal IS NOT NULL`
  // Previous versions of definitions. `replaced` contains the fields that the next version changed,
  // as they are stored, with their credentials. `shown` contains those fields as the API showed
  // them, or null if they are equal to `replaced`. The current definition is only in its record. A
  // trigger of each table with definitions removes the versions of a deleted record.
  yield* sql`
    CREATE TABLE definition_versions (
      subject_id uuid NOT NULL,
      version integer NOT NULL,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      replaced jsonb NOT NULL,
      shown jsonb,
      bytes integer NOT NULL,
      updated_by jsonb,
      updated_at timestamptz NOT NULL,
      PRIMARY KEY (subject_id, version)
    )`
  yield* sql`
    CREATE INDEX definition_versions_by_workspace ON definition_versions (workspace_id)`
  yield* sql`
    CREATE FUNCTION remove_definition_versions() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      DELETE FROM definition_versions
      WHERE subject_id IN (SELECT id FROM removed);
      RETURN NULL;
    END
    $$`
  // The head of the chain: its last event. The row has a MAC of its own.
  yield* sql`
    CREATE TABLE audit_head (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      ordinal bigint NOT NULL,
      hash text NOT NULL,
      at timestamptz,
      mac text NOT NULL
    )`
  // Deleted workspaces and accounts whose events still contain names.
  yield* sql`CREATE TABLE audit_erasures (owner_id uuid PRIMARY KEY)`
})
