import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { LimitsRepo } from "../../src/plans/LimitsRepo.ts"
import { insertTask, insertTasks, insertWorkspace } from "../engine/runner/support/tasks.ts"
import { countRowsRead } from "../support/countRowsRead.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

layer(LimitsRepo.layer.pipe(Layer.provideMerge(TestDatabaseLayer)))("a limit's usage", (it) => {
  it.effect("of tasks with a schedule is counted without reading the delayed tasks", () =>
    Effect.gen(function* () {
      const [repo, sql] = [yield* LimitsRepo, yield* SqlClient.SqlClient]
      const workspaceId = yield* insertWorkspace
      yield* insertTask(workspaceId, { schedule: "@every 10s" })
      yield* insertTasks(workspaceId, { kind: "delayed", status: "pending", count: 3_000 })
      yield* sql`ANALYZE tasks`
      const count = repo.count(workspaceId, "second_precision_tasks", new Date(), 10)
      assert.strictEqual(yield* count, 1)
      assert.strictEqual(yield* countRowsRead("tasks", count), 1)
    })
  )
})
