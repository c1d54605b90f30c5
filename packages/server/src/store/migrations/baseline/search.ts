import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The searchable text of a workspace's records. Triggers keep it up to date, so that every change
 * of a record is covered. It is a separate table because a task changes with each run: an index on
 * its name and URL would be written every time.
 *
 * A search reads the entries of a workspace in the index, which contains nothing else: 100,000 of
 * them take a few hundredths of a second. A trigram index would make the creation of a task much
 * slower.
 */
export const search = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `text` contains the name, the key, the tags and the target in lower case, with a line break
  // before and after each. It is truncated, because an index entry may have at most 2,700 bytes.
  yield* sql`
    CREATE TABLE search_entries (
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      id uuid NOT NULL,
      kind text NOT NULL,
      name text,
      key text,
      target text,
      text text NOT NULL,
      PRIMARY KEY (workspace_id, id) INCLUDE (kind, text)
    )`
  yield* sql`
    CREATE FUNCTION put_search_entry(
      workspace uuid, entry uuid, kind text, name text, key text, tags text[], target text
    ) RETURNS void
    LANGUAGE sql
    AS $$
      INSERT INTO search_entries (workspace_id, id, kind, name, key, target, text)
      VALUES (
        workspace, entry, kind, name, key, target,
        left(lower(array_to_string(ARRAY['', name, key] || tags || ARRAY[target, ''], chr(10))), 600)
      )
      ON CONFLICT (workspace_id, id) DO UPDATE
      SET name = excluded.name, key = excluded.key, target = excluded.target, text = excluded.text
    $$`
  yield* sql`
    CREATE FUNCTION remove_search_entries() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      DELETE FROM search_entries
      USING removed
      WHERE search_entries.workspace_id = removed.workspace_id
        AND search_entries.id = removed.id;
      RETURN NULL;
    END
    $$`

  /**
   * Creates the triggers that update the entries of a table. `of` lists the columns that matter,
   * and `entry` is the row to write.
   */
  const keep = (
    table: string,
    {
      entry,
      isSearched,
      of
    }: { readonly entry: string; readonly isSearched?: string; readonly of: string }
  ) =>
    Effect.gen(function* () {
      const changed = of
        .split(", ")
        .map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`)
        .join(" OR ")
      yield* sql`
        CREATE FUNCTION ${sql.literal(`keep_search_entry_of_${table}`)}() RETURNS trigger
        LANGUAGE plpgsql
        AS $$
        BEGIN
          PERFORM put_search_entry(NEW.workspace_id, NEW.id, ${sql.literal(entry)});
          RETURN NULL;
        END
        $$`
      yield* sql`
        CREATE TRIGGER ${sql.literal(`${table}_found`)} AFTER INSERT ON ${sql.literal(table)}
        FOR EACH ROW ${sql.literal(isSearched === undefined ? "" : `WHEN (${isSearched})`)}
        EXECUTE FUNCTION ${sql.literal(`keep_search_entry_of_${table}`)}()`
      yield* sql`
        CREATE TRIGGER ${sql.literal(`${table}_found_again`)} AFTER UPDATE OF ${sql.literal(of)} ON ${sql.literal(table)}
        FOR EACH ROW WHEN (${sql.literal(isSearched === undefined ? changed : `(${isSearched}) AND (${changed})`)})
        EXECUTE FUNCTION ${sql.literal(`keep_search_entry_of_${table}`)}()`
      yield* sql`
        CREATE TRIGGER ${sql.literal(`${table}_not_found`)} AFTER DELETE ON ${sql.literal(table)}
        REFERENCING OLD TABLE AS removed
        FOR EACH STATEMENT EXECUTE FUNCTION remove_search_entries()`
    })

  // Most delayed tasks have neither a name nor a key and finish soon, so they are found only by id.
  yield* keep("tasks", {
    of: "name, key, tags, url, version_id",
    isSearched: "NEW.kind <> 'delayed' OR NEW.name IS NOT NULL OR NEW.key IS NOT NULL",
    entry: `NEW.kind, NEW.name, NEW.key, NEW.tags, coalesce(
      NEW.url, (SELECT string_agg(DISTINCT url, ' ') FROM chain_steps WHERE version_id = NEW.version_id)
    )`
  })
  // The target of a monitor is in the table of its kind. The row of the kind is written after the
  // row of the monitor.
  yield* sql`
    CREATE FUNCTION target_of_monitor(monitor uuid) RETURNS text
    LANGUAGE sql
    STABLE
    AS $$
      SELECT host
      FROM ssl_monitors
      WHERE monitor_id = monitor
      UNION ALL
      SELECT coalesce(target ->> 'url', target ->> 'host', target ->> 'name')
      FROM checked_monitors
      WHERE monitor_id = monitor
    $$`
  yield* sql`
    CREATE FUNCTION keep_search_entry_of_target() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      PERFORM put_search_entry(workspace_id, id, kind, name, key, tags, target_of_monitor(id))
      FROM monitors
      WHERE id = NEW.monitor_id;
      RETURN NULL;
    END
    $$`
  yield* sql`
    CREATE TRIGGER ssl_monitors_found AFTER INSERT OR UPDATE OF host ON ssl_monitors
    FOR EACH ROW EXECUTE FUNCTION keep_search_entry_of_target()`
  yield* sql`
    CREATE TRIGGER checked_monitors_found AFTER INSERT OR UPDATE OF target ON checked_monitors
    FOR EACH ROW EXECUTE FUNCTION keep_search_entry_of_target()`
  yield* keep("monitors", {
    of: "name, key, tags",
    entry: "NEW.kind, NEW.name, NEW.key, NEW.tags, target_of_monitor(NEW.id)"
  })
  // Queues without a workspace are the keys of flows. They are not searched.
  yield* keep("queues", {
    of: "name, key, tags",
    isSearched: "NEW.workspace_id IS NOT NULL",
    entry: "'queue', NEW.name, NEW.key, NEW.tags, NULL"
  })
  yield* keep("notification_channels", {
    of: "name, key, tags",
    entry: "'channel', NEW.name, NEW.key, NEW.tags, NULL"
  })
  yield* keep("escalation_policies", {
    of: "name, key",
    entry: "'escalation_policy', NEW.name, NEW.key, '{}', NULL"
  })
  yield* keep("maintenance_windows", {
    of: "name, key, tags",
    entry: "'maintenance_window', NEW.name, NEW.key, NEW.tags, NULL"
  })
  yield* keep("status_pages", {
    of: "title, slug",
    entry: "'status_page', NEW.title, NEW.slug, '{}', NULL"
  })
  yield* keep("workers", {
    of: "name, labels",
    entry: "'worker', NEW.name, NULL, NEW.labels, NULL"
  })
  yield* keep("secrets", {
    of: "name, allowed_hosts",
    entry: "'secret', NEW.name, NULL, NEW.allowed_hosts, NULL"
  })
})
