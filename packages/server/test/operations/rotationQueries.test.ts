import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { testAppLayer } from "../support/TestApp.ts"

const page = readFileSync(new URL("../../../../docs/operations.md", import.meta.url), "utf8")
const [, block = ""] = /^```sql\n([^]*?)^```$/m.exec(page) ?? []
/** Substitutes the psql variable, because only psql supports such variables. */
const [setting = "", time = ""] = /^\\set rotated '(.*)'\n/.exec(block) ?? []
const statements = block
  .slice(setting.length)
  .replaceAll(/ -- .*$/gm, "")
  .replaceAll(":'rotated'", `'${time}'`)
  .split(";\n")
  .filter((statement) => statement.trim() !== "")

layer(testAppLayer())("the statements of docs/operations.md about a rotated secret", (it) => {
  it.effect("fit the schema", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      assert.lengthOf(statements, 4)
      for (const statement of statements) yield* sql.unsafe(statement)
    })
  )
})
