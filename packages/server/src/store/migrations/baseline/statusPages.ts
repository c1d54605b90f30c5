import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Public status pages. Slugs are unique among all workspaces, because they are part of public URLs.
 */
export const statusPages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE status_pages (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      slug text NOT NULL UNIQUE,
      version integer NOT NULL DEFAULT 1,
      title text NOT NULL,
      description text,
      published boolean NOT NULL,
      sealed_password text,
      groups jsonb NOT NULL,
      notices jsonb NOT NULL,
      owner text,
      created_by jsonb,
      updated_by jsonb,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX status_pages_by_workspace ON status_pages (workspace_id, id DESC)`
  yield* sql`
    CREATE TRIGGER status_pages_versions_removed AFTER DELETE ON status_pages
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions()`
})
