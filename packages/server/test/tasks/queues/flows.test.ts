import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { deleteUnusedFlows } from "../../../src/engine/queues/flows.ts"
import { chainClientOf } from "../chains/chains.ts"
import { setUpCron } from "../cron/tasks.ts"
import { delayedClientOf } from "../delayed/tasks.ts"
import { ask, statusAndError } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { queueClientOf } from "./queues.ts"

const setUp = Effect.map(setUpCron, ({ cron, key, member }) => {
  const owner = { ...member, access_token: key }
  return {
    member,
    key,
    cron,
    chains: chainClientOf(owner),
    delayed: delayedClientOf(owner),
    queues: queueClientOf(owner)
  }
})

const flow = { key: "customer:{{ input.customer }}", max_concurrency: 1 }
const shown = { ...flow, rate_per_second: null, fifo: false }

interface KeyOfRun {
  readonly flow_key: string | null
  readonly state: string
}

const keysOfRuns = (taskId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<KeyOfRun>`
      SELECT flow_key, state
      FROM runs
      LEFT JOIN queues ON queues.id = runs.queue_id
      WHERE task_id = ${taskId}
      ORDER BY runs.ordinal`
  )

layer(testAppLayer())("the flow of a task", (it) => {
  it.effect("is shown whole, and replaced or removed by a change", () =>
    Effect.gen(function* () {
      const { chains, cron, delayed } = yield* setUp
      const task = yield* cron.create({ flow })
      assert.deepStrictEqual(task.body.flow, shown)
      assert.deepStrictEqual((yield* chains.create({ flow })).body.flow, shown)
      const later = yield* delayed.post({ url: "https://example.com/", delay_seconds: 60, flow })
      assert.deepStrictEqual(later.body.flow, shown)
      const fifo = { key: "{{ task.key }}", max_concurrency: 1, rate_per_second: 2, fifo: true }
      const changed = yield* cron.update(task.body.id, { flow: fifo })
      assert.deepStrictEqual(changed.body.flow, fifo)
      assert.strictEqual(changed.body.version, 2)
      const same = yield* cron.update(task.body.id, { flow: fifo })
      assert.strictEqual(same.body.version, 2)
      assert.isNull((yield* cron.update(task.body.id, { flow: null })).body.flow)
    })
  )

  it.effect.each<readonly [object, ReadonlyArray<string>]>([
    [{ key: "" }, ["flow", "key"]],
    [{ key: "x".repeat(256) }, ["flow", "key"]],
    [{ key: "{{ input" }, ["flow", "key"]],
    [{ key: "{{ secrets.TOKEN }}" }, ["flow", "key"]],
    [{ key: "{{ run.attempt }}" }, ["flow", "key"]],
    [{ key: "{{ now }}" }, ["flow", "key"]],
    [{ key: "{{ uuid }}" }, ["flow", "key"]],
    [{ key: "{{ steps.a.body }}" }, ["flow", "key"]],
    [{ max_concurrency: null }, ["flow", "max_concurrency"]],
    [{ max_concurrency: 0 }, ["flow", "max_concurrency"]],
    [{ rate_per_second: 0 }, ["flow", "rate_per_second"]],
    [{ max_concurrency: 2, fifo: true }, ["flow", "fifo"]],
    [{ max_concurrency: null, rate_per_second: 1, fifo: true }, ["flow", "fifo"]],
    [{ paused: true }, ["flow", "paused"]]
  ])("is refused: %j", ([given, path]) =>
    Effect.gen(function* () {
      const { cron } = yield* setUp
      const refused = yield* cron.create({ flow: { ...flow, ...given } })
      assert.strictEqual(statusAndError(refused), "422 validation_failed")
      assert.deepStrictEqual(refused.body.detail.issues[0].path, path)
    })
  )

  it.effect("excludes a queue, in a definition and in a change", () =>
    Effect.gen(function* () {
      const { cron, delayed, queues } = yield* setUp
      const { id: queue_id } = (yield* queues.create()).body
      const both = yield* cron.create({ flow, queue_id })
      assert.strictEqual(statusAndError(both), "422 validation_failed")
      assert.deepStrictEqual(both.body.detail.issues[0].path, ["flow"])
      const delay = { url: "https://example.com/", delay_seconds: 60 }
      const refused = yield* delayed.post({ ...delay, flow, queue_id })
      assert.strictEqual(statusAndError(refused), "422 validation_failed")
      const { id } = (yield* cron.create({ queue_id })).body
      const added = yield* cron.update(id, { flow })
      assert.strictEqual(statusAndError(added), "422 validation_failed")
      const replaced = yield* cron.update(id, { flow, queue_id: null })
      assert.deepInclude(replaced.body, { flow: shown, queue_id: null })
      const back = yield* cron.update(id, { flow: null, queue_id })
      assert.deepInclude(back.body, { flow: null, queue_id })
    })
  )

  it.effect("gives each run its key, and moves waiting runs when it changes", () =>
    Effect.gen(function* () {
      const { cron, key: token, member } = yield* setUp
      // With a rate limit, a flow's runs wait for a node even if there is a free slot.
      const slow = { ...flow, rate_per_second: 10 }
      const { id } = (yield* cron.create({ flow: slow })).body
      const run = (body: object) =>
        ask("POST", `${member.workspace}/cron/${id}/run`, { token, body })
      for (const customer of ["ada", "bob"]) yield* run({ input: { customer } })
      yield* run({})
      const waits = (flow_key: string) => ({ flow_key, state: "parked" })
      assert.deepStrictEqual(
        yield* keysOfRuns(id),
        ["customer:ada", "customer:bob", "customer:"].map(waits)
      )
      yield* cron.update(id, { flow: { ...slow, key: "all" } })
      assert.deepStrictEqual(yield* keysOfRuns(id), ["all", "all", "all"].map(waits))
      yield* cron.update(id, { flow: null })
      const free = { flow_key: null, state: "ready" }
      assert.deepStrictEqual(yield* keysOfRuns(id), [free, free, free])
      yield* cron.update(id, { flow: slow })
      assert.deepStrictEqual(
        yield* keysOfRuns(id),
        ["customer:ada", "customer:bob", "customer:"].map(waits)
      )
    })
  )

  it.effect("shows its key in each execution, also when it has finished or runs again", () =>
    Effect.gen(function* () {
      const { chains, cron, key: token, member } = yield* setUp
      const call = (method: string, path: string, body = {}) =>
        ask(method, `${member.workspace}/${path}`, { token, ...(method === "POST" && { body }) })
      const { id } = (yield* cron.create({ flow })).body
      const run = (customer: string) =>
        call("POST", `cron/${id}/run`, { input: { customer } }).pipe(
          Effect.map(({ body }): { readonly id: string; readonly flow_key: string } => body)
        )
      const ada = yield* run("ada")
      const bob = yield* run("bob")
      assert.deepStrictEqual([ada.flow_key, bob.flow_key], ["customer:ada", "customer:bob"])
      const cancelled = yield* call("POST", `executions/${ada.id}/cancel`)
      assert.deepInclude(cancelled.body, { status: "cancelled", flow_key: "customer:ada" })
      const again = yield* call("POST", `executions/${ada.id}/rerun`)
      assert.deepInclude(again.body, { trigger: "rerun", flow_key: "customer:ada" })
      yield* cron.update(id, { flow: { ...flow, key: "all" } })
      const shownKeys = (yield* call("GET", `executions?task_id=${id}`)).body.data.map(
        (one: { readonly flow_key: string | null; readonly status: string }) => [
          one.status,
          one.flow_key
        ]
      )
      assert.sameDeepMembers(shownKeys, [
        ["queued", "all"],
        ["queued", "all"],
        ["cancelled", "customer:ada"]
      ])
      const chain = (yield* chains.create({ flow: { ...flow, key: "{{ task.name }}" } })).body
      const first = (yield* call("POST", `chains/${chain.id}/run`)).body
      assert.strictEqual((yield* call("GET", `executions/${first.id}`)).body.flow_key, chain.name)
    })
  )

  it.effect("follows a change of a delayed task", () =>
    Effect.gen(function* () {
      const { delayed } = yield* setUp
      const delay = { url: "https://example.com/", delay_seconds: 60 }
      const { id } = (yield* delayed.post({ ...delay, name: "A", flow: { ...flow, key: "a" } }))
        .body
      assert.deepStrictEqual(yield* keysOfRuns(id), [{ flow_key: "a", state: "parked" }])
      yield* delayed.update(id, { flow: { ...flow, key: "{{ task.name }}" } })
      assert.deepStrictEqual(yield* keysOfRuns(id), [{ flow_key: "A", state: "parked" }])
    })
  )

  it.effect("has keys that are in no list, count against no plan and are no queues", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cron, delayed, key: token, member, queues } = yield* setUp
      const delay = { url: "https://example.com/", delay_seconds: 60 }
      for (let n = 0; n < 101; n++) {
        const named = yield* delayed.post({ ...delay, flow: { ...flow, key: `secret-${n}` } })
        assert.strictEqual(named.status, 201)
      }
      assert.strictEqual((yield* queues.create()).status, 201)
      assert.lengthOf((yield* queues.list()).body.data, 1)
      const [row] = yield* sql<{ readonly id: string }>`
        SELECT id
        FROM queues
        WHERE flow_key = 'secret-1'`
      const id = row?.id ?? ""
      assert.strictEqual(statusAndError(yield* queues.get(id)), "404 not_found")
      assert.strictEqual(statusAndError(yield* queues.act(id, "pause")), "404 not_found")
      assert.strictEqual(statusAndError(yield* queues.remove(id)), "404 not_found")
      const stolen = yield* cron.create({ queue_id: id })
      assert.strictEqual(statusAndError(stolen), "422 validation_failed")
      const found = yield* ask("GET", `${member.workspace}/search?q=secret-1`, { token })
      assert.isEmpty(found.body.data)
    })
  )

  it.effect("is exported, and applied without a change", () =>
    Effect.gen(function* () {
      const { cron, member } = yield* setUp
      const token = member.access_token
      yield* cron.create({ key: "in-flow", flow: { ...flow, fifo: true } })
      const exported = yield* ask("GET", `${member.workspace}/export`, { token })
      assert.deepStrictEqual(exported.body.tasks[0].flow, { ...shown, fifo: true })
      const body = exported.body
      const applied = yield* ask("POST", `${member.workspace}/apply`, { token, body })
      assert.deepStrictEqual(
        applied.body.counts,
        { create: 0, update: 0, unchanged: 1, delete: 0 },
        applied.text
      )
    })
  )

  it.effect("outlives the deletion of its workspace only until its keys are forgotten", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { delayed, member } = yield* setUp
      yield* delayed.post({ url: "https://example.com/", delay_seconds: 60, flow })
      const keys = sql`
        SELECT id
        FROM queues
        WHERE flow_workspace_id = ${member.workspace_id}`
      assert.lengthOf(yield* keys, 1)
      yield* sql`
        DELETE FROM runs
        WHERE workspace_id = ${member.workspace_id}`
      yield* deleteUnusedFlows(sql)
      assert.isEmpty(yield* keys)
    })
  )
})
