import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { registerNode } from "../../../src/engine/Nodes.ts"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { inState } from "./inState.ts"
import { start } from "../../../src/engine/transitions/start.ts"
import { eventually, insertTask, insertWorkspace } from "../runner/support/tasks.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"

/** Creates an unfinished run, and the task's next run, which becomes due after this delay. */
const overlapping = Effect.fnUntraced(function* (dueInMs: number) {
  const sql = yield* SqlClient.SqlClient
  const node = yield* registerNode(sql, { holdsLock: false, leaseMs: 60_000 })
  const workspace_id = yield* insertWorkspace
  const task_id = yield* insertTask(workspace_id, { overlap: "skip" })
  const insert = Effect.fnUntraced(function* (due: Date, fields: object) {
    const id = makeRunId(due.getTime(), Date.now())
    const own = { id, workspace_id, task_id, kind: "cron", trigger: "schedule" }
    const times = { scheduled_for: due, due_at: due, slot_at: due }
    yield* sql`INSERT INTO runs ${sql.insert({ ...own, ...times, ...fields })}`
    return { id, workspace_id, attempt: 1, share: 0, target: null, due_ms: due.getTime() }
  })
  const before = new Date(Date.now() - 60_000)
  const going = yield* insert(before, inState("running", { node, at: before }))
  const next = yield* insert(new Date(Date.now() + dueInMs), inState("leased", { node }))
  return { going, next, ask: start(sql, node, [next]) }
})

layer(TestDatabaseLayer, { excludeTestServices: true })(
  "a slot while the previous run is unfinished",
  (it) => {
    it.effect("is skipped when it is due, and not before", () =>
      Effect.gen(function* () {
        const { ask, next } = yield* overlapping(1_000)
        const ahead = yield* ask
        assert.deepStrictEqual([...ahead.early], [next.id])
        assert.isEmpty(ahead.refused)
        const { refused, started } = yield* eventually(ask, ({ early }) => early.size === 0)
        assert.isAtLeast(Date.now(), next.due_ms)
        assert.deepStrictEqual(
          refused.map(({ status }) => status),
          ["skipped"]
        )
        assert.isEmpty(started)
      })
    )

    it.effect("starts if that run finishes at the last moment", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { ask, going, next } = yield* overlapping(60_000)
        assert.deepStrictEqual([...(yield* ask).early], [next.id])
        yield* sql`
        DELETE FROM runs
        WHERE id = ${going.id}`
        assert.deepStrictEqual(
          (yield* ask).started.map(({ id }) => id),
          [next.id]
        )
      })
    )
  }
)
