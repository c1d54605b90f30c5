import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { callLayer, nodeLayer } from "./runner/support/engine.ts"
import {
  enqueueAll,
  eventually,
  readExecutions,
  insertTask,
  insertWorkspace
} from "./runner/support/tasks.ts"

/**
 * The number of failed attempts after which an individual result is considered impossible to store.
 */
const failures = 5

/** Makes subsequent inserts into the history fail with the error that a full disk causes. */
const fillDisk = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE SEQUENCE tries`
  yield* sql.unsafe(`
    CREATE FUNCTION find_no_place() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('tries') <= ${failures} THEN
        RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full';
      END IF;
      RETURN NEW;
    END $$`)
  yield* sql`
    CREATE TRIGGER no_place
    BEFORE INSERT ON executions
    FOR EACH ROW
    EXECUTE FUNCTION find_no_place()`
})

const NodeLayer = nodeLayer(
  callLayer(() => Effect.succeed({ response_body: "worth keeping" }))
).pipe(Layer.provideMerge(TestDatabaseLayer))

layer(NodeLayer, { excludeTestServices: true })("a full disk", (it) => {
  it.effect("delays the results of runs, but loses none", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fillDisk
      const workspace = yield* insertWorkspace
      yield* insertTask(workspace)
      yield* enqueueAll(workspace)
      const [ended] = yield* eventually(readExecutions(workspace), (rows) => rows.length === 1)
      assert.strictEqual(ended?.status, "succeeded")
      assert.isNull(ended?.error)
      const attempts = yield* sql`
        SELECT status_code, response_body, error
        FROM attempts
        WHERE workspace_id = ${workspace}`
      assert.deepStrictEqual(attempts, [
        { status_code: 200, response_body: "worth keeping", error: null }
      ])
      const [{ tries }] = (yield* sql`SELECT last_value::int AS tries FROM tries`) as [
        { readonly tries: number }
      ]
      assert.isAbove(tries, failures)
    })
  )
})
