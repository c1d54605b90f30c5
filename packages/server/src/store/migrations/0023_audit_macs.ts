import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // One chain for the whole service, and a MAC of each event from the moment it is written. Events
  // from before have no MAC: they are linked anew and reported as not verifiable.
  yield* sql`DROP TABLE audit_chains`
  yield* sql`DROP INDEX audit_events_unlinked, audit_events_by_ordinal`
  yield* sql`
    UPDATE audit_events
    SET ordinal = NULL, previous_hash = NULL, previous_at = NULL, hash = NULL`
  // The salt is removed together with the details, so that their hash reveals nothing about them.
  yield* sql`
    ALTER TABLE audit_events
      ALTER COLUMN ordinal TYPE bigint,
      DROP COLUMN details_mac,
      ADD COLUMN details_salt text,
      ADD COLUMN details_hash text,
      ADD COLUMN mac text`
  yield* sql`
    CREATE INDEX audit_events_unlinked ON audit_events (id)
    WHERE ordinal IS NULL`
  yield* sql`
    CREATE UNIQUE INDEX audit_events_by_ordinal ON audit_events (ordinal)
    WHERE ordinal IS NOT NULL`
  // The last event of the chain, under a MAC of its own.
  yield* sql`
    CREATE TABLE audit_head (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      ordinal bigint NOT NULL,
      hash text NOT NULL,
      at timestamptz,
      mac text NOT NULL
    )`
})
