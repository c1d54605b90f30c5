import { assert, layer } from "@effect/vitest"
import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ask, signUp } from "../support/http.ts"
import { runningConfig, startNode, TestApp } from "../support/TestApp.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { eventually } from "../engine/runner/support/tasks.ts"

const NodeLayer = Layer.effect(
  TestApp,
  Effect.map(startNode(runningConfig), (url) => TestApp.of({ url, otherUrl: url, logs: [] }))
).pipe(Layer.provideMerge(TestDatabaseLayer))

const service = { kind: "system", id: null, name: null }

/** Creates a task that the first failure pauses, and that already has an earlier version. */
const setUp = Effect.fnUntraced(function* (path: "cron" | "chains", isQueued: boolean) {
  const member = yield* signUp()
  const { access_token: token, workspace } = member
  const send = (method: string, at: string, body?: object) =>
    ask(method, `${workspace}/${at}`, { token, ...(body !== undefined && { body }) })
  const port = yield* httpTarget((_, response) => void response.writeHead(500).end())
  const url = `http://127.0.0.1:${port}/`
  const queue = yield* send("POST", "queues", { name: "Imports", max_concurrency: 1 })
  const { body: created } = yield* send("POST", path, {
    name: "Imports",
    schedule: "0 0 1 1 *",
    pause_after_failures: isQueued ? 3 : 1,
    ...(isQueued && { queue_id: queue.body.id }),
    ...(path === "cron" ? { url } : { steps: [{ name: "one", url }] })
  })
  const at = `${path}/${created.id}`
  if (isQueued) {
    const changed = yield* send("PATCH", at, { pause_after_failures: 1 })
    assert.strictEqual(changed.status, 200)
  }
  return {
    member,
    send,
    at,
    id: String(created.id),
    run: send("POST", `${at}/run`),
    task: Effect.map(send("GET", at), ({ body }) => body)
  }
})

layer(NodeLayer, { excludeTestServices: true, timeout: "60 seconds" })(
  "a task that the service pauses after a failure",
  (it) => {
    it.effect.each([
      { path: "cron", kind: "cron_task", isQueued: false },
      { path: "cron", kind: "cron_task", isQueued: true },
      { path: "chains", kind: "chain", isQueued: false }
    ] as const)(
      "has an event, a version and an author: $kind, in a queue: $isQueued",
      ({ isQueued, kind, path }) =>
        Effect.gen(function* () {
          const { at, id, member, run, send, task } = yield* setUp(path, isQueued)
          yield* run
          // The transaction that pauses the task hands the first run's slot over to the second run.
          if (isQueued) yield* run
          const paused = yield* eventually(task, ({ status }) => status === "paused")
          // Before the pause, the queued task was updated once, and the others never.
          const before = isQueued ? 2 : 1
          assert.deepInclude(paused, { version: before + 1, updated_by: service })

          const { body: events } = yield* send("GET", `audit?subject_id=${id}`)
          assert.deepInclude(events.data[0], {
            action: `${kind}.paused`,
            actor: service,
            request_id: "pause_after_failures",
            changes: [{ field: "paused", old: false, new: true }],
            details: { name: "Imports", reason: "it failed 1 times in a row" }
          })
          assert.strictEqual(events.data.length, before + 1)

          const { body: versions } = yield* send("GET", `${at}/versions`)
          assert.deepInclude(versions.data[0], {
            version: before + 1,
            updated_at: paused.updated_at,
            updated_by: service,
            changes: [{ field: "paused", old: false, new: true }]
          })
          assert.deepInclude(versions.data[1], { version: before })
          assert.strictEqual(versions.data[1].updated_by.id, member.user_id)

          const restored = yield* send("POST", `${at}/versions/${before}/restore`)
          assert.deepInclude(restored.body, { status: "active", version: before + 2 })
        })
    )

    it.effect("is paused only together with its event", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { id, member, run, send, task } = yield* setUp("cron", true)
        yield* sql`ALTER TABLE audit_events ADD CONSTRAINT full_disk CHECK (action <> 'cron_task.paused') NOT VALID`
        const finished = Effect.map(
          send("GET", `executions?task_id=${id}&status=failed`),
          ({ body }) => body.data.length
        )
        yield* run
        yield* eventually(finished, (count) => count === 1)
        assert.deepInclude(yield* task, { status: "active", version: 2 })
        const kept = yield* sql`
          SELECT version
          FROM definition_versions
          WHERE workspace_id = ${member.workspace_id}
            AND subject_id = ${id}`
        assert.deepStrictEqual(kept, [{ version: 1 }])

        // The next failure pauses the task.
        yield* sql`ALTER TABLE audit_events DROP CONSTRAINT full_disk`
        yield* run
        yield* eventually(task, ({ status }) => status === "paused")
      })
    )
  }
)
