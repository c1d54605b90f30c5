import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** All that the database holds, apart from what a key's use leaves behind. */
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
    ORDER BY table_name`
  const contents: Array<string> = []
  for (const { name } of tables) {
    const rows = yield* sql<{ row: string }>`
      SELECT (to_jsonb(t) - 'last_used_at')::text AS row
      FROM ${sql(name)} AS t
      ORDER BY row`
    contents.push(...rows.map(({ row }) => `${name} ${row}`))
  }
  return new Set(contents)
}).pipe(Effect.orDie)

const newIn = (after: ReadonlySet<string>, before: ReadonlySet<string>) =>
  [...after].filter((row) => !before.has(row))

/** A row that is gone is one that is new the other way round. */
export const changes = (after: ReadonlySet<string>, before: ReadonlySet<string>) => [
  ...newIn(after, before),
  ...newIn(before, after)
]
