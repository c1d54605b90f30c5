import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { inState } from "../../engine/transitions/inState.ts"
import { chainClientOf } from "../chains/chains.ts"
import { setUpCron, cronClientOf, insertExecution } from "../cron/tasks.ts"
import { delayedClientOf } from "../delayed/tasks.ts"
import { ask, createKey, statusAndError, signUp } from "../../support/http.ts"
import { testAppLayer, testNow } from "../../support/TestApp.ts"
import { queueClientOf } from "./queues.ts"

const setUp = Effect.map(setUpCron, ({ cron, key, member }) => {
  const owner = { ...member, access_token: key }
  return {
    member,
    key,
    cron,
    queues: queueClientOf(owner),
    delayed: delayedClientOf(owner),
    chains: chainClientOf(owner)
  }
})

interface QueueOfRun {
  readonly queue_id: string | null
  readonly slot_queue_id: string | null
  readonly state: string
}

const queuesOfRuns = (taskId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<QueueOfRun>`
      SELECT queue_id, slot_queue_id, state
      FROM runs
      WHERE task_id = ${taskId}
      ORDER BY slot_queue_id, id`
  )

const inQueue = (queue_id: string): QueueOfRun => ({
  queue_id,
  slot_queue_id: null,
  state: "parked"
})
const inNone: QueueOfRun = { queue_id: null, slot_queue_id: null, state: "ready" }

layer(testAppLayer())("queue records", (it) => {
  it.effect(
    "with a rate has its first turn at once, also if it was created by a node whose clock is ahead",
    () =>
      Effect.gen(function* () {
        const { queues } = yield* setUp
        const sql = yield* SqlClient.SqlClient
        const { id } = (yield* queues.create({ rate_per_second: 1 })).body
        // The node uses the test's clock.
        const [turn] = yield* sql<{ readonly is_now: boolean }>`
        SELECT next_at BETWEEN now() - interval '1 minute' AND now() AS is_now
        FROM queues
        WHERE id = ${id}`
        assert.isTrue(turn?.is_now)
      })
  )

  it.effect("has every field, and keeps the given values", () =>
    Effect.gen(function* () {
      const { member, queues } = yield* setUp
      const created = yield* queues.create({ name: " Billing  server " })
      assert.strictEqual(created.status, 201)
      const { id, ...rest } = created.body
      assert.deepStrictEqual(rest, {
        workspace_id: member.workspace_id,
        key: null,
        version: 1,
        tags: [],
        name: "Billing  server",
        max_concurrency: 2,
        rate_per_second: null,
        paused: false,
        running: 0,
        waiting: 0,
        waiting_since: null,
        created_by: created.body.created_by,
        updated_by: created.body.created_by,
        created_at: "2026-06-01T12:00:00.000Z",
        updated_at: "2026-06-01T12:00:00.000Z"
      })
      assert.deepStrictEqual((yield* queues.get(id)).body, created.body)
      const slow = yield* queues.create({ max_concurrency: null, rate_per_second: 0.2 })
      assert.strictEqual(slow.body.rate_per_second, 0.2)
      assert.strictEqual(slow.body.max_concurrency, null)
      const { body } = yield* queues.list()
      assert.deepStrictEqual(body, {
        data: [slow.body, created.body],
        next_cursor: null,
        total: null
      })
      const first = yield* queues.list("?limit=1")
      const second = yield* queues.list(`?limit=1&cursor=${first.body.next_cursor}`)
      assert.deepStrictEqual(second.body.data, [created.body])
    })
  )

  it.effect.each<readonly [object, ReadonlyArray<string>]>([
    [{ max_concurrency: null }, ["max_concurrency"]],
    [{ max_concurrency: 0 }, ["max_concurrency"]],
    [{ max_concurrency: 1_001 }, ["max_concurrency"]],
    [{ max_concurrency: 1.5 }, ["max_concurrency"]],
    [{ rate_per_second: 0 }, ["rate_per_second"]],
    [{ rate_per_second: 0.000_01 }, ["rate_per_second"]],
    [{ rate_per_second: 1_001 }, ["rate_per_second"]],
    [{ name: "" }, ["name"]],
    [{ paused: "yes" }, ["paused"]]
  ])("is refused: %j", ([input, path]) =>
    Effect.gen(function* () {
      const { queues } = yield* setUp
      const refused = yield* queues.create(input)
      assert.strictEqual(refused.status, 422)
      assert.deepStrictEqual(refused.body.detail.issues[0].path, path)
    })
  )

  it.effect("changes the given fields, and keeps at least one limit", () =>
    Effect.gen(function* () {
      const { queues } = yield* setUp
      const { id } = (yield* queues.create()).body
      const changed = yield* queues.update(id, { rate_per_second: 5, name: "Mail" })
      assert.strictEqual(changed.status, 200)
      assert.deepInclude(changed.body, { name: "Mail", max_concurrency: 2, rate_per_second: 5 })
      const one = yield* queues.update(id, { max_concurrency: null })
      assert.deepInclude(one.body, { max_concurrency: null, rate_per_second: 5 })
      const none = yield* queues.update(id, { rate_per_second: null })
      assert.strictEqual(statusAndError(none), "422 validation_failed")
      assert.deepStrictEqual((yield* queues.update(id, {})).body, one.body)
    })
  )

  it.effect("pauses and resumes, and does so again without a change", () =>
    Effect.gen(function* () {
      const { queues } = yield* setUp
      const { id } = (yield* queues.create()).body
      const paused = yield* queues.act(id, "pause")
      assert.strictEqual(paused.body.paused, true)
      assert.deepStrictEqual((yield* queues.act(id, "pause")).body, paused.body)
      assert.strictEqual((yield* queues.act(id, "resume")).body.paused, false)
    })
  )

  it.effect("is repeated for a repeated Idempotency-Key", () =>
    Effect.gen(function* () {
      const { queues } = yield* setUp
      const headers = { "idempotency-key": "once" }
      const first = yield* queues.create({}, headers)
      assert.deepStrictEqual((yield* queues.create({}, headers)).body, first.body)
      const other = yield* queues.create({ max_concurrency: 3 }, headers)
      assert.strictEqual(statusAndError(other), "422 idempotency_mismatch")
      assert.strictEqual((yield* queues.list()).body.data.length, 1)
    })
  )

  it.effect("is there for the scopes of tasks", () =>
    Effect.gen(function* () {
      const { member } = yield* setUp
      const reader = yield* createKey(member, { scopes: ["tasks:read"] })
      const reads = queueClientOf({ ...member, access_token: reader.key })
      assert.strictEqual((yield* reads.list()).status, 200)
      const refused = yield* reads.create()
      assert.strictEqual(statusAndError(refused), "403 insufficient_scope")
      assert.strictEqual(refused.body.detail.required_scope, "tasks:write")
    })
  )

  it.effect("is not found in other workspaces", () =>
    Effect.gen(function* () {
      const { queues } = yield* setUp
      const { queues: others } = yield* setUp
      const { id } = (yield* others.create()).body
      const answers = [
        yield* queues.get(id),
        yield* queues.update(id, { name: "mine" }),
        yield* queues.act(id, "pause"),
        yield* queues.act(id, "resume"),
        yield* queues.remove(id)
      ]
      for (const answer of answers) {
        assert.strictEqual(statusAndError(answer), "404 not_found")
        assert.strictEqual(answer.body.detail.resource, "queue")
      }
    })
  )

  it.effect("cannot be deleted while a task that may run names it", () =>
    Effect.gen(function* () {
      const { chains, cron, delayed, queues } = yield* setUp
      const { id: queue_id } = (yield* queues.create()).body
      const task = (yield* cron.create({ queue_id })).body
      assert.strictEqual(task.queue_id, queue_id)
      yield* cron.act(task.id, "pause")
      assert.strictEqual(statusAndError(yield* queues.remove(queue_id)), "409 conflict")
      yield* cron.remove(task.id)
      const chain = (yield* chains.create({ queue_id })).body
      assert.strictEqual(chain.queue_id, queue_id)
      assert.strictEqual(statusAndError(yield* queues.remove(queue_id)), "409 conflict")
      assert.strictEqual((yield* chains.update(chain.id, { queue_id: null })).body.queue_id, null)
      const later = (yield* delayed.create({ queue_id })).body
      assert.strictEqual(statusAndError(yield* queues.remove(queue_id)), "409 conflict")
      yield* delayed.remove(later.id)
      assert.strictEqual((yield* queues.remove(queue_id)).status, 204)
      assert.strictEqual(statusAndError(yield* queues.get(queue_id)), "404 not_found")
      assert.strictEqual((yield* delayed.get(later.id)).body.queue_id, null)
    })
  )

  it.effect("is deleted with its workspace", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const queues = queueClientOf(member)
      const { id: queue_id } = (yield* queues.create()).body
      yield* cronClientOf(member).create({ queue_id })
      const other = (yield* ask("POST", "/v1/workspaces", {
        token: member.access_token,
        body: { name: "another" }
      })).body
      assert.isString(other.id)
      const removed = yield* ask("DELETE", member.workspace, { token: member.access_token })
      assert.strictEqual(removed.status, 204)
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT id FROM queues WHERE id = ${queue_id}`, [])
    })
  )
})

layer(testAppLayer())("the queue of a task", (it) => {
  it.effect("has to be one of the workspace", () =>
    Effect.gen(function* () {
      const { chains, cron, delayed } = yield* setUp
      const { queues: others } = yield* setUp
      const { id: queue_id } = (yield* others.create()).body
      const task = (yield* cron.create()).body
      const answers = [
        yield* cron.create({ queue_id }),
        yield* cron.update(task.id, { queue_id }),
        yield* delayed.create({ queue_id }),
        yield* chains.create({ queue_id })
      ]
      for (const answer of answers) {
        assert.strictEqual(statusAndError(answer), "422 validation_failed")
        assert.deepStrictEqual(answer.body.detail.issues, [
          {
            path: ["queue_id"],
            code: "not_found",
            message: `queue_id matches no queue in this workspace: ${queue_id}.`
          }
        ])
      }
    })
  )

  it.effect("takes its runs: by hand, at its time, and again", () =>
    Effect.gen(function* () {
      const { chains, cron, delayed, member, queues } = yield* setUp
      const { id: queue_id } = (yield* queues.create()).body
      const task = (yield* cron.create({ queue_id })).body
      yield* cron.act(task.id, "run")
      assert.deepStrictEqual(yield* queuesOfRuns(task.id), [inQueue(queue_id)])
      const chain = (yield* chains.create({ queue_id })).body
      yield* chains.act(chain.id, "run")
      assert.deepStrictEqual(yield* queuesOfRuns(chain.id), [inQueue(queue_id)])
      const later = (yield* delayed.create({ queue_id })).body
      assert.deepStrictEqual(yield* queuesOfRuns(later.id), [inQueue(queue_id)])
      assert.deepInclude((yield* queues.get(queue_id)).body, { running: 0, waiting: 3 })

      const again = (yield* cron.create({ queue_id })).body
      const ended = yield* insertExecution(member.workspace_id, again.id, {
        at: testNow - 60_000,
        status: "failed"
      })
      const executions = `${member.workspace}/executions`
      const { access_token: token } = member
      const rerun = yield* ask("POST", `${executions}/${ended}/rerun`, { token })
      assert.strictEqual(rerun.status, 202)
      assert.notProperty(rerun.body, "queue_id")
      const many = yield* ask("POST", `${executions}/rerun`, {
        token,
        body: { status: ["failed"], task_id: [again.id] }
      })
      assert.strictEqual(many.body.count, 1)
      assert.deepStrictEqual(yield* queuesOfRuns(again.id), [inQueue(queue_id), inQueue(queue_id)])
    })
  )

  it.effect("says since when the run that has waited longest is due, whatever its priority", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { delayed, queues } = yield* setUp
      const { id: queue_id } = (yield* queues.create()).body
      const addRun = Effect.fnUntraced(function* (priority: number, dueAt: string) {
        const task = (yield* delayed.create({ queue_id, priority })).body
        yield* sql`
          UPDATE runs
          SET due_at = ${dueAt}
          WHERE task_id = ${task.id}`
        const { waiting, waiting_since } = (yield* queues.get(queue_id)).body
        return [waiting, waiting_since]
      })
      // The clock of the database decides what is due.
      assert.deepStrictEqual(yield* addRun(100, "2999-01-01T00:00:00Z"), [0, null])
      const noon = "2026-06-01T12:00:00.000Z"
      assert.deepStrictEqual(yield* addRun(5, noon), [1, noon])
      const morning = "2026-06-01T09:00:00.000Z"
      assert.deepStrictEqual(yield* addRun(-5, morning), [2, morning])
      assert.deepStrictEqual(yield* addRun(50, "2026-06-01T10:00:00.000Z"), [3, morning])
      assert.deepStrictEqual((yield* queues.list()).body.data, [(yield* queues.get(queue_id)).body])
    })
  )

  it.effect("orders its runs by the priority of the task, or of the run", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { chains, cron, delayed, member, queues } = yield* setUp
      const { access_token: token } = member
      const { id: queue_id } = (yield* queues.create()).body
      const prioritiesOf = (taskId: string) =>
        Effect.map(
          sql<{ readonly priority: number }>`
            SELECT priority
            FROM runs
            WHERE task_id = ${taskId}
            ORDER BY ordinal`,
          (rows) => rows.map(({ priority }) => priority)
        )
      const run = (path: string, priority?: number) =>
        ask("POST", `${member.workspace}/${path}/run`, {
          token,
          body: priority === undefined ? {} : { priority }
        })
      const task = (yield* cron.create({ queue_id, priority: -5 })).body
      assert.strictEqual(task.priority, -5)
      yield* run(`cron/${task.id}`)
      yield* run(`cron/${task.id}`, 100)
      assert.deepStrictEqual(yield* prioritiesOf(task.id), [-5, 100])
      const changed = yield* cron.update(task.id, { priority: 7 })
      assert.strictEqual(changed.body.priority, 7)
      yield* run(`cron/${task.id}`)
      assert.deepStrictEqual(yield* prioritiesOf(task.id), [-5, 100, 7])

      const chain = (yield* chains.create({ queue_id, priority: 3 })).body
      yield* run(`chains/${chain.id}`)
      assert.deepStrictEqual(yield* prioritiesOf(chain.id), [3])
      const later = (yield* delayed.create({ queue_id, priority: 4 })).body
      assert.deepStrictEqual(yield* prioritiesOf(later.id), [4])
      yield* run(`delayed/${later.id}`, 9)
      assert.deepStrictEqual(yield* prioritiesOf(later.id), [9])

      const again = (yield* cron.create({ queue_id, priority: 8 })).body
      const ended = yield* insertExecution(member.workspace_id, again.id, {
        at: testNow - 60_000,
        status: "failed"
      })
      yield* ask("POST", `${member.workspace}/executions/${ended}/rerun`, { token })
      assert.deepStrictEqual(yield* prioritiesOf(again.id), [8])
      const refused = yield* cron.create({ priority: 101 })
      assert.strictEqual(statusAndError(refused), "422 validation_failed")
      assert.deepStrictEqual(refused.body.detail.issues[0].path, ["priority"])
    })
  )

  it.effect("moves runs that have not started when it changes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cron, delayed, queues } = yield* setUp
      const first = (yield* queues.create()).body.id
      const second = (yield* queues.create()).body.id
      const task = (yield* cron.create({ queue_id: first })).body
      yield* cron.act(task.id, "run")
      yield* sql`
        UPDATE runs
        SET ${sql.update(inState("running", { queue: first }))}
        WHERE task_id = ${task.id}`
      yield* cron.act(task.id, "run")
      assert.strictEqual((yield* queues.get(first)).body.running, 1)
      yield* cron.update(task.id, { queue_id: second })
      const running = { queue_id: second, slot_queue_id: first, state: "running" }
      assert.deepStrictEqual(yield* queuesOfRuns(task.id), [running, inQueue(second)])
      yield* cron.update(task.id, { queue_id: null })
      assert.deepStrictEqual(yield* queuesOfRuns(task.id), [{ ...running, queue_id: null }, inNone])

      const later = (yield* delayed.create({ queue_id: first })).body
      yield* delayed.update(later.id, { queue_id: second })
      assert.deepStrictEqual(yield* queuesOfRuns(later.id), [inQueue(second)])
    })
  )

  it.effect("can be given by key, and is removed if left out", () =>
    Effect.gen(function* () {
      const { key, member, queues } = yield* setUp
      const { id: queue_id } = (yield* queues.create()).body
      const put = (body: object) =>
        ask("PUT", `${member.workspace}/cron/by-key/nightly`, { token: key, body })
      const definition = { name: "Nightly", url: "https://example.com/", schedule: "0 3 * * *" }
      const made = yield* put({ ...definition, queue_id })
      assert.strictEqual(made.status, 201)
      assert.strictEqual(made.body.queue_id, queue_id)
      const same = yield* put({ ...definition, queue_id })
      assert.strictEqual(same.body.updated_at, made.body.updated_at)
      assert.strictEqual((yield* put(definition)).body.queue_id, null)
    })
  )
})
