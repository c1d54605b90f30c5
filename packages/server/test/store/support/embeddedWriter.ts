/**
 * Writes to the embedded store until it is killed, and prints the id of each acknowledged row:
 * node embeddedWriter.ts <data directory>
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { writeSync } from "node:fs"
import { storeLayer } from "./embedded.ts"

const dataDir = process.argv[2]

const writeForEver = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS written (id bigserial PRIMARY KEY, filler text NOT NULL)`
  writeSync(1, "writing\n")
  const writeOne = Effect.gen(function* () {
    const rows = yield* sql<{ id: bigint }>`
      INSERT INTO written (filler) VALUES (${"x".repeat(500)}) RETURNING id`
    writeSync(1, `${rows[0]?.id}\n`)
  })
  yield* Effect.forEach(Array.from({ length: 8 }), () => Effect.forever(writeOne), {
    concurrency: "unbounded"
  })
})

const program = Effect.provide(writeForEver, storeLayer({ dataDir }))

Effect.runPromise(program).catch((error: unknown) => {
  writeSync(2, `${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
