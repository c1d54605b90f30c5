import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Written after the requests: the use of keys, and the links of audit events. */
const behind = "{last_used_at,ordinal,previous_hash,previous_at,mac,hash}"

/** All that the database holds, apart from what follows a request. */
export const everything: Effect.Effect<
  ReadonlySet<string>,
  never,
  SqlClient.SqlClient
> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ name: string }>`
    SELECT table_name AS name
    FROM information_schema.tables
    WHERE table_schema = 'public'
      AND table_name <> 'audit_head'`
  const contents = tables.map(
    ({ name }) =>
      `SELECT '${name} ' || (to_jsonb(t) - '${behind}'::text[])::text AS row FROM "${name}" AS t`
  )
  const rows = yield* sql.unsafe<{ row: string }>(contents.join(" UNION ALL "))
  return new Set(rows.map(({ row }) => row))
}).pipe(Effect.orDie)

const newIn = (after: ReadonlySet<string>, before: ReadonlySet<string>) =>
  [...after].filter((row) => !before.has(row))

/** A row that is gone is one that is new the other way round. */
export const changes = (after: ReadonlySet<string>, before: ReadonlySet<string>) => [
  ...newIn(after, before),
  ...newIn(before, after)
]
