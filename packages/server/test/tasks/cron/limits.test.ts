import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  createKey,
  type Member,
  statusAndError,
  times,
  runConcurrently
} from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { enqueueMany } from "../../engine/runner/support/tasks.ts"
import { setUpCron, cronClientOf } from "./tasks.ts"

/** Inserts tasks directly, because creating them one by one would take half a minute. */
const insertTasks = Effect.fnUntraced(function* (member: Member, count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO tasks (
      id, workspace_id, kind, name, status, method, url, headers, timeout_seconds, retry_count,
      schedule, timezone, overlap, missed, dst_overlap, created_at, updated_at
    )
    SELECT
      gen_random_uuid(), ${member.workspace_id}::uuid, 'cron', 'a task', 'paused', 'POST',
      'https://example.com', '{}', 30, 0, '* * * * *', 'UTC', 'skip', 'once', 'first', now(), now()
    FROM generate_series(1, ${count}::int)`
})

layer(testAppLayer())("a workspace of cron tasks", (it) => {
  it.effect("can have 10,000 of them, even when several are created simultaneously", () =>
    Effect.gen(function* () {
      const { cron, member } = yield* setUpCron
      yield* insertTasks(member, 9_998)
      const answers = yield* runConcurrently(times(4, () => cron.create()))
      assert.deepStrictEqual(answers.map(statusAndError).toSorted(), [
        "201",
        "201",
        "402 quota_exceeded",
        "402 quota_exceeded"
      ])
      const refused = yield* cron.create()
      assert.deepStrictEqual(refused.body.detail, {
        error: "quota_exceeded",
        message:
          'The plan "self_hosted" allows at most 10000 cron tasks. The limit has been reached.',
        quota: "cron_tasks",
        limit: 10_000,
        plan: "self_hosted"
      })
      const made = answers.find(({ status }) => status === 201)
      yield* cron.remove(made?.body.id)
      assert.strictEqual((yield* cron.create()).status, 201)
      const { cron: elsewhere } = yield* setUpCron
      assert.strictEqual((yield* elsewhere.create()).status, 201)
    })
  )

  it.effect("rejects a run by hand of a task that has 10,000 unfinished ones", () =>
    Effect.gen(function* () {
      const { cron, member } = yield* setUpCron
      const { body: task } = yield* cron.create()
      yield* enqueueMany({ workspace_id: member.workspace_id, task_id: task.id }, 10_000)
      const refused = yield* cron.act(task.id, "run")
      assert.strictEqual(refused.status, 402)
      assert.deepStrictEqual(refused.body.detail, {
        error: "quota_exceeded",
        message:
          'The plan "self_hosted" allows at most 10000 unfinished runs of a task. The limit has been reached.',
        quota: "unfinished_runs_of_a_task",
        limit: 10_000,
        plan: "self_hosted"
      })
    })
  )

  it.effect("shows each workspace its own tasks, however many requests arrive simultaneously", () =>
    Effect.gen(function* () {
      const owners = yield* Effect.all(times(3, () => setUpCron))
      for (const { cron, member } of owners) {
        yield* runConcurrently(times(3, () => cron.create({ name: member.workspace_id })))
      }
      const asked = times(60, (index) => ({ ...owners[index % 3]!, limit: (index % 4) + 1 }))
      const answers = yield* runConcurrently(
        asked.map(({ cron, limit, member }) =>
          Effect.map(cron.list(`?limit=${limit}`), ({ body }) => ({ ...body, limit, member }))
        )
      )
      for (const { data, limit, member, next_cursor } of answers) {
        assert.deepStrictEqual(
          data.map((task: { name: string }) => task.name),
          times(Math.min(limit, 3), () => member.workspace_id)
        )
        assert.strictEqual(next_cursor === null, limit >= 3)
      }
    })
  )

  it.effect("is read with tasks:read and changed with tasks:write", () =>
    Effect.gen(function* () {
      const { cron: owner, member } = yield* setUpCron
      const { body: task } = yield* owner.create()
      const as = (scopes: ReadonlyArray<string>) =>
        Effect.map(createKey(member, { scopes }), ({ key }) =>
          cronClientOf({ ...member, access_token: key })
        )
      const reader = yield* as(["tasks:read"])
      const writer = yield* as(["tasks:write"])
      const historian = yield* as(["executions:read"])
      const outcomes = (cron: typeof owner) =>
        Effect.map(
          Effect.all([
            cron.list(),
            cron.get(task.id),
            cron.preview({ schedule: "* * * * *" }),
            cron.executions(task.id),
            cron.create(),
            cron.update(task.id, { name: "Renamed" }),
            cron.act(task.id, "run"),
            cron.act(task.id, "pause"),
            cron.act(task.id, "resume"),
            cron.remove(task.id)
          ]),
          (answers) =>
            answers.map(({ body, status }) =>
              status === 403 ? body.detail.required_scope : status
            )
        )
      const [read, write, history] = ["tasks:read", "tasks:write", "executions:read"]
      const refusedWrites = times(6, () => write)
      assert.deepStrictEqual(yield* outcomes(reader), [200, 200, 200, history, ...refusedWrites])
      assert.deepStrictEqual(yield* outcomes(historian), [read, read, read, 200, ...refusedWrites])
      assert.deepStrictEqual(yield* outcomes(writer), [
        read,
        read,
        read,
        history,
        201,
        200,
        202,
        200,
        200,
        204
      ])
    })
  )
})
