import type { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import baseline from "./0001_baseline.ts"

/** Migrations by the names of their files. */
export type Migrations = Readonly<Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>>

/** All migrations, in order. A released migration is never edited. */
export const migrations: Migrations = {
  "0001_baseline": baseline
}
