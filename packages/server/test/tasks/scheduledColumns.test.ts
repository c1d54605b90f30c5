import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { PlanPausesRepo } from "../../src/billing/PlanPausesRepo.ts"
import { CalendarsRepo } from "../../src/tasks/calendars/CalendarsRepo.ts"
import { insertTask, insertWorkspace } from "../engine/runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const url = "https://example.com/days.ics"

/** A cron task with a key, a queue and a calendar. */
const insertFullTask = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const workspace_id = yield* insertWorkspace
  const queue_id = randomUUID()
  yield* sql`
    INSERT INTO queues (
      id, workspace_id, name, max_concurrency, next_at, created_at, updated_at
    )
    VALUES (${queue_id}, ${workspace_id}, 'a queue', 1, now(), now(), now())`
  const id = yield* insertTask(workspace_id)
  yield* sql`
    UPDATE tasks
    SET
      key = 'a-key',
      queue_id = ${queue_id},
      firing_options = ${JSON.stringify({ excluded_calendar: { url } })}::jsonb
    WHERE workspace_id = ${workspace_id}
      AND id = ${id}`
  return { id, workspace_id, key: "a-key", queue_id }
})

layer(
  Layer.merge(CalendarsRepo.layer, PlanPausesRepo.layer).pipe(Layer.provideMerge(TestDatabaseLayer))
)("a task that fires by a schedule", (it) => {
  it.effect("is read with its key and its queue where a plan pauses it", () =>
    Effect.gen(function* () {
      const repo = yield* PlanPausesRepo
      const task = yield* insertFullTask
      const [row] = yield* repo.listActive(task.workspace_id, "cron", 1)
      assert.deepInclude(row, task)
    })
  )

  it.effect("is read in the same way when its calendar changes", () =>
    Effect.gen(function* () {
      const repo = yield* CalendarsRepo
      const task = yield* insertFullTask
      const row = yield* repo.lockTask({ workspace_id: task.workspace_id, url }, task.id)
      assert.deepInclude(Option.getOrThrow(row), task)
    })
  )
})
