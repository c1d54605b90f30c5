import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Columns that are written after the requests: when keys were last used, and the links between
 * audit events.
 */
const behind = ["last_used_at", "ordinal", "previous_hash", "previous_at", "mac", "hash"]

/** Reads all rows in the database, except columns that are written after the requests. */
export const readAllRows: Effect.Effect<
  ReadonlySet<string>,
  never,
  SqlClient.SqlClient
> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // `json` columns can contain U+0000, which `jsonb` rejects, so these columns are compared as
  // text.
  const tables = yield* sql<{ name: string; columns: string }>`
    SELECT
      table_name AS name,
      string_agg(
        format(CASE data_type WHEN 'json' THEN '%I::text' ELSE '%I' END, column_name), ', '
      ) AS columns
    FROM information_schema.columns
    WHERE table_schema = 'public'
      AND table_name <> 'audit_head'
      AND column_name NOT IN ${sql.in(behind)}
    GROUP BY table_name`
  const contents = tables.map(
    ({ name, columns }) =>
      `SELECT '${name} ' || to_jsonb(t)::text AS row FROM (SELECT ${columns} FROM "${name}") AS t`
  )
  const rows = yield* sql.unsafe<{ row: string }>(contents.join(" UNION ALL "))
  return new Set(rows.map(({ row }) => row))
}).pipe(Effect.orDie)

const newIn = (after: ReadonlySet<string>, before: ReadonlySet<string>) =>
  [...after].filter((row) => !before.has(row))

/**
 * Returns the rows that were added. If the arguments are swapped, returns the rows that were
 * removed.
 */
export const changedRows = (after: ReadonlySet<string>, before: ReadonlySet<string>) => [
  ...newIn(after, before),
  ...newIn(before, after)
]
