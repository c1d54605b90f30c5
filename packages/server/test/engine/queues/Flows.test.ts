// @tags slow
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { flowDefaults, type FlowInput } from "@scheduling/domain/queues/Flow"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import { flowPartsOf, deleteUnusedFlows } from "../../../src/engine/queues/flows.ts"
import { RunQueue } from "../../../src/engine/RunQueue.ts"
import { admitAheadMs } from "../../../src/engine/transitions/admit.ts"
import { nodeLayer, RunQueueLayer } from "../runner/support/engine.ts"
import { makeFakeCalls, urlOf } from "../runner/support/fakeCalls.ts"
import {
  eventually,
  readExecutions,
  insertTask,
  insertWorkspace,
  callStep,
  readRuns
} from "../runner/support/tasks.ts"
import { onPostgres, TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { CallsInProgress } from "./queues.ts"

const { answers, layer: callsLayer } = makeFakeCalls()

const OneNode = nodeLayer(callsLayer).pipe(Layer.provideMerge(TestDatabaseLayer))

/** Assigns a flow to a task that has no runs. */
const setFlow = (taskId: string, flow: FlowInput) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => {
    const parts = flowPartsOf(flow.key)
    return sql`
      UPDATE tasks
      SET
        flow = ${JSON.stringify({ ...flowDefaults, ...flow })}::jsonb,
        flow_parts = ${parts && JSON.stringify(parts)}::jsonb,
        updated_at = clock_timestamp()
      WHERE id = ${taskId}`
  })

const insertInFlow = Effect.fnUntraced(function* (
  workspace: AuthorizedWorkspaceId,
  path: string,
  flow: FlowInput,
  fields: Parameters<typeof insertTask>[1] = {}
) {
  const task = yield* insertTask(workspace, { url: urlOf(path), ...fields })
  yield* setFlow(task, flow)
  return task
})

const enqueue = (
  workspace_id: AuthorizedWorkspaceId,
  task_id: string,
  input: Schema.Json = null,
  kind: "chain" | "cron" = "cron"
) => Effect.flatMap(RunQueue, (queue) => queue.enqueue({ workspace_id, task_id, kind, input }))

interface FlowRow {
  readonly flow_key: string
  readonly max_concurrency: number | null
  readonly rate_per_second: number | null
  readonly fifo: boolean
}

const flowsOf = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<FlowRow>`
      SELECT flow_key, max_concurrency, rate_per_second, fifo
      FROM queues
      WHERE flow_workspace_id = ${workspaceId}
      ORDER BY flow_key`
  )

const keysOf = (workspaceId: string) =>
  Effect.map(flowsOf(workspaceId), (rows) => rows.map(({ flow_key }) => flow_key))

const forget = Effect.flatMap(SqlClient.SqlClient, deleteUnusedFlows)

/** Responds to calls to this path after a delay, and measures all of the calls together. */
const gaugeOf = (path: string, ms: number) => {
  const gauge = new CallsInProgress()
  answers.set(path, () =>
    Effect.acquireUseRelease(
      Effect.sync(() => gauge.begin()),
      () => Effect.as(Effect.sleep(ms), {}),
      () => Effect.sync(() => gauge.end())
    )
  )
  return gauge
}

const holding = { max_concurrency: 1 } as const

/** Reads the states of a workspace's runs, in the order in which the runs were added. */
const statesOf = (workspace: AuthorizedWorkspaceId) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly state: string; readonly has_slot: boolean }>`
      SELECT state, slot_queue_id = queue_id AS has_slot
      FROM runs
      WHERE workspace_id = ${workspace}
      ORDER BY ordinal`
  ).pipe(
    Effect.map((rows) =>
      rows.map(({ has_slot, state }) => (has_slot ? `${state} in its slot` : state))
    )
  )

const admitted = "ready in its slot"

const withoutNode = RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer))

layer(withoutNode, { excludeTestServices: true })("a run that is added to a flow", (it) => {
  it.effect("takes a free slot, if no other run waits", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workspace = yield* insertWorkspace
      const task = yield* insertInFlow(workspace, "/slots", { key: "k", max_concurrency: 2 })
      for (let run = 0; run < 3; run++) yield* enqueue(workspace, task)
      assert.deepStrictEqual(yield* statesOf(workspace), [admitted, admitted, "parked"])
      yield* sql`DELETE FROM runs WHERE workspace_id = ${workspace} AND state = 'ready'`
      yield* enqueue(workspace, task)
      assert.deepStrictEqual(yield* statesOf(workspace), ["parked", "parked"])
      yield* sql`DELETE FROM runs WHERE workspace_id = ${workspace}`
      yield* sql`
        UPDATE queues
        SET held_until = ARRAY[now() + interval '1 minute', now() - interval '1 minute']
        WHERE flow_workspace_id = ${workspace}`
      for (let run = 0; run < 2; run++) yield* enqueue(workspace, task)
      assert.deepStrictEqual(yield* statesOf(workspace), [admitted, "parked"])
    })
  )

  it.effect("waits if its flow has a rate, or if it is due later", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const queue = yield* RunQueue
      const flow = { key: "r", max_concurrency: 1, rate_per_second: 1 }
      const task = yield* insertInFlow(workspace, "/slots", flow)
      yield* enqueue(workspace, task)
      const delayed = yield* insertInFlow(
        workspace,
        "/slots",
        { key: "later", ...holding },
        { kind: "delayed", status: "pending" }
      )
      const run_at = new Date(Date.now() + 60_000)
      yield* queue.schedule({ workspace_id: workspace, task_id: delayed, run_at })
      assert.deepStrictEqual(yield* statesOf(workspace), ["parked", "parked"])
    })
  )

  it.effect.runIf(onPostgres)("takes no slot that another transaction may give", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workspace = yield* insertWorkspace
      const task = yield* insertInFlow(workspace, "/slots", { key: "k", ...holding })
      yield* enqueue(workspace, task)
      yield* sql`DELETE FROM runs WHERE workspace_id = ${workspace}`
      const isLocked = yield* Deferred.make<void>()
      const isAdded = yield* Deferred.make<void>()
      const admitting = yield* sql`
        SELECT id FROM queues WHERE flow_workspace_id = ${workspace} FOR NO KEY UPDATE`.pipe(
        Effect.andThen(Deferred.succeed(isLocked, undefined)),
        Effect.andThen(Deferred.await(isAdded)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(isLocked)
      yield* enqueue(workspace, task)
      yield* Deferred.succeed(isAdded, undefined)
      yield* Fiber.join(admitting)
      assert.deepStrictEqual(yield* statesOf(workspace), ["parked"])
    })
  )

  it.effect("shares the slots of its key with runs that are added at the same time", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const task = yield* insertInFlow(workspace, "/slots", { key: "k", max_concurrency: 3 })
      yield* Effect.all(
        Array.from({ length: 30 }, () => enqueue(workspace, task)),
        { concurrency: "unbounded" }
      )
      const states = yield* statesOf(workspace)
      assert.lengthOf(states, 30)
      const many = states.filter((state) => state === admitted).length
      assert.isTrue(many >= 1 && many <= 3, `${many} runs have slots`)
    })
  )
})

layer(OneNode, { excludeTestServices: true })("a flow", (it) => {
  it.effect("limits each key on its own, across tasks, and leaves no row of an idle key", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const gauges = [new CallsInProgress(), new CallsInProgress()]
      const all = new CallsInProgress()
      answers.set("/keys", ({ body }) => {
        const both = [all, ...gauges.slice(Number(body)).slice(0, 1)]
        return Effect.acquireUseRelease(
          Effect.sync(() => both.forEach((gauge) => gauge.begin())),
          () => Effect.as(Effect.sleep(40), {}),
          () => Effect.sync(() => both.forEach((gauge) => gauge.end()))
        )
      })
      const flow = { key: "of {{ input.customer }}", max_concurrency: 1 }
      const fields = { body: "{{ input.customer }}" }
      const one = yield* insertInFlow(workspace, "/keys", flow, fields)
      const other = yield* insertInFlow(workspace, "/keys", flow, fields)
      for (const customer of [0, 1, 0, 1, 0, 1]) {
        yield* enqueue(workspace, one, { customer })
        yield* enqueue(workspace, other, { customer })
      }
      assert.deepStrictEqual(yield* keysOf(workspace), ["of 0", "of 1"])
      yield* forget
      assert.lengthOf(yield* keysOf(workspace), 2)
      yield* eventually(readExecutions(workspace), ({ length }) => length === 12)
      assert.deepStrictEqual(
        gauges.map(({ began, most }) => [began.length, most]),
        [
          [6, 1],
          [6, 1]
        ]
      )
      assert.strictEqual(all.most, 2)
      yield* forget
      assert.isEmpty(yield* keysOf(workspace))
    })
  )

  it.effect("leaves nothing of 20,000 keys whose runs have finished", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workspace = yield* insertWorkspace
      const flow = { key: "{{ run.id }}", max_concurrency: 1, rate_per_second: null, fifo: false }
      yield* sql`
        SELECT use_flow(${workspace}, 'idle ' || n, ${JSON.stringify(flow)}::jsonb, now())
        FROM generate_series(1, 19900) AS n`
      const task = yield* insertInFlow(workspace, "/many", { key: flow.key, max_concurrency: 1 })
      for (let run = 0; run < 100; run++) yield* enqueue(workspace, task)
      assert.lengthOf(yield* keysOf(workspace), 20_000)
      yield* eventually(readExecutions(workspace), ({ length }) => length === 100)
      yield* forget
      assert.isEmpty(yield* keysOf(workspace))
    })
  )

  it.effect("starts runs of a key no more often than its rate allows", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const gauge = gaugeOf("/flow-rate", 0)
      const task = yield* insertInFlow(workspace, "/flow-rate", { key: "r", rate_per_second: 20 })
      for (let run = 0; run < 30; run++) yield* enqueue(workspace, task)
      yield* eventually(readExecutions(workspace), ({ length }) => length === 30)
      const took = (gauge.began.at(-1) ?? 0) - (gauge.began[0] ?? 0)
      assert.isAtLeast(took, 29 * 50 - admitAheadMs)
    })
  )

  it.effect.each([
    { key: "plain", filled: "plain" },
    { key: "{{ input }}", filled: '{"id":7,"list":["x",{"a b":true}],"none":null}' },
    { key: "{{ input.id }}-{{ input.list[0] }}", filled: "7-x" },
    { key: '{{ input.list[1]["a b"] }}', filled: "true" },
    { key: "<{{ input.none }}{{ input.missing.deep }}>", filled: "<>" },
    { key: "{{ task.name }}/{{ task.key }}", filled: "task/" },
    { key: "{{ '{{' }} braces }}", filled: "{{ braces }}" },
    { key: `${"x".repeat(250)}{{ input.list }}`, filled: `${"x".repeat(250)}["x",` }
  ])("fills in the key $key", ({ filled, key }) =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      gaugeOf("/filled", 0)
      const task = yield* insertInFlow(workspace, "/filled", { key, ...holding })
      yield* enqueue(workspace, task, { id: 7, list: ["x", { "a b": true }], none: null })
      assert.deepStrictEqual(yield* keysOf(workspace), [filled])
    })
  )

  it.effect("can use the id of the run, and an input that PostgreSQL cannot read as text", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const key = "{{ run.id }} {{ input.id }}"
      const task = yield* insertInFlow(workspace, "/filled", { key, ...holding })
      const { id } = yield* enqueue(workspace, task, { id: "\u0000" })
      assert.deepStrictEqual(yield* keysOf(workspace), [`${id} `])
    })
  )

  it.effect("has the limits of the task that was changed last", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      gaugeOf("/limits", 0)
      const old = yield* insertInFlow(workspace, "/limits", { key: "k", max_concurrency: 2 })
      const recent = yield* insertInFlow(workspace, "/limits", {
        key: "k",
        max_concurrency: 1,
        rate_per_second: 5,
        fifo: true
      })
      yield* enqueue(workspace, old)
      const row = { flow_key: "k", max_concurrency: 2, rate_per_second: null, fifo: false }
      assert.deepStrictEqual(yield* flowsOf(workspace), [row])
      yield* enqueue(workspace, recent)
      const changed = { flow_key: "k", max_concurrency: 1, rate_per_second: 5, fifo: true }
      assert.deepStrictEqual(yield* flowsOf(workspace), [changed])
      yield* enqueue(workspace, old)
      assert.deepStrictEqual(yield* flowsOf(workspace), [changed])
    })
  )

  it.effect.each([
    { fifo: true, order: ["1.1", "1.2", "1.3", "2.1", "3.1"] },
    { fifo: false, order: ["1.1", "2.1", "3.1", "1.2", "1.3"] }
  ])("keeps the order through retries if fifo is $fifo", ({ fifo, order }) =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const path = `/fifo-${fifo}`
      const began: Array<string> = []
      answers.set(path, (request) =>
        Effect.sync(() => {
          began.push(`${request.body}.${request.attempt}`)
          const isOver = request.body !== "1" || request.attempt === 3
          return isOver
            ? {}
            : { status_code: 503, outcome: "retryable" as const, retry_after_seconds: 1 }
        })
      )
      const task = yield* insertInFlow(
        workspace,
        path,
        { key: "k", max_concurrency: 1, fifo },
        { retry_count: 2, body: "{{ input }}" }
      )
      for (const input of [1, 2, 3]) yield* enqueue(workspace, task, input)
      yield* eventually(readExecutions(workspace), ({ length }) => length === 3)
      assert.deepStrictEqual(began, order)
      yield* forget
      assert.isEmpty(yield* keysOf(workspace))
    })
  )

  it.effect("spaces the attempts of a fifo flow by its rate", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const gauge = new CallsInProgress()
      answers.set("/spaced", ({ attempt }) =>
        Effect.sync(() => {
          gauge.begin()
          gauge.end()
          return attempt === 3
            ? {}
            : { status_code: 503, outcome: "retryable" as const, retry_after_seconds: 0 }
        })
      )
      const flow = { key: "k", max_concurrency: 1, rate_per_second: 2, fifo: true }
      const task = yield* insertInFlow(workspace, "/spaced", flow, { retry_count: 2 })
      yield* enqueue(workspace, task)
      yield* enqueue(workspace, task)
      yield* eventually(readExecutions(workspace), ({ length }) => length === 2)
      assert.lengthOf(gauge.began, 6)
      const took = (gauge.began.at(-1) ?? 0) - (gauge.began[0] ?? 0)
      assert.isAtLeast(took, 5 * 500 - admitAheadMs)
    })
  )

  it.effect("finishes the steps of a chain before the next run of its key", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      gaugeOf("/flow-step", 5)
      const steps = ["a", "b"].map((name) => callStep(name, { url: urlOf("/flow-step") }))
      const chain = yield* insertTask(workspace, { kind: "chain", steps })
      yield* setFlow(chain, { key: "{{ input.id }}", max_concurrency: 1, fifo: true })
      for (let run = 0; run < 3; run++) yield* enqueue(workspace, chain, { id: 1 }, "chain")
      const rows = yield* eventually(readExecutions(workspace), ({ length }) => length === 6)
      const inOrder = rows.toSorted((a, b) => +(a.started_at ?? 0) - +(b.started_at ?? 0))
      assert.strictEqual(inOrder.map((row) => row.step).join(""), "ababab")
    })
  )

  it.effect("is found by runs of a schedule, of a backfill, of a rerun and of a delayed task", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workspace = yield* insertWorkspace
      const queue = yield* RunQueue
      gaugeOf("/sources", 0)
      const task = yield* insertInFlow(
        workspace,
        "/sources",
        { key: "{{ task.name }} {{ input.id }}", ...holding },
        { fires_in: 0 }
      )
      const [fired] = yield* eventually(readExecutions(workspace), ({ length }) => length === 1)
      assert.deepStrictEqual(yield* keysOf(workspace), ["task "])
      yield* sql.withTransaction(queue.backfill(workspace, task, [new Date(0), new Date(1_000)]))
      yield* eventually(readExecutions(workspace), ({ length }) => length === 3)
      const manual = yield* enqueue(workspace, task, { id: "m" })
      const rows = yield* eventually(readExecutions(workspace), ({ length }) => length === 4)
      assert.deepStrictEqual(rows.find(({ id }) => id === manual.id)?.status, "succeeded")
      yield* forget
      yield* queue.rerun(workspace, [
        { id: manual.id, task_id: task, scheduled_for: new Date() },
        { id: fired?.id ?? "", task_id: task, scheduled_for: new Date() }
      ])
      assert.deepStrictEqual(yield* keysOf(workspace), ["task ", "task m"])
      yield* eventually(readExecutions(workspace), ({ length }) => length === 6)

      const delayed = yield* insertInFlow(
        workspace,
        "/sources",
        { key: "later", ...holding },
        { kind: "delayed", status: "pending" }
      )
      const run_at = new Date(Date.now() + 4_000)
      yield* queue.schedule({ workspace_id: workspace, task_id: delayed, run_at })
      assert.include(yield* keysOf(workspace), "later")
      const all = yield* eventually(readExecutions(workspace), ({ length }) => length === 7)
      const last = all.find(({ task_id }) => task_id === delayed)
      assert.strictEqual(last?.status, "succeeded")
      // No signal announces a run that is due later.
      assert.isAtMost(last?.lateness_ms ?? Infinity, 3_000)
    })
  )

  it.effect("takes over the waiting runs of a task that gets it, and lets them go", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const queue = yield* RunQueue
      const gauge = gaugeOf("/moved-to-flow", 5)
      const flow = { key: "{{ input.id }}", ...holding }
      const task = yield* insertInFlow(workspace, "/moved-to-flow", flow)
      yield* stopWorkspace(workspace)
      for (const id of [1, 1, 2]) yield* enqueue(workspace, task, { id })
      const key = "new {{ input.id }}"
      yield* queue.moveToFlow(
        { workspace_id: workspace, task_id: task },
        {
          flow: { ...flowDefaults, key, max_concurrency: 3 },
          flow_parts: flowPartsOf(key),
          name: "task",
          key: null,
          updated_at: new Date()
        }
      )
      yield* forget
      assert.deepStrictEqual(yield* keysOf(workspace), ["new 1", "new 2"])
      assert.isTrue((yield* readRuns(workspace)).every(({ state }) => state === "parked"))
      assert.isEmpty(gauge.began)
      yield* queue.moveToQueue({ workspace_id: workspace, task_id: task }, null)
      yield* forget
      assert.isEmpty(yield* keysOf(workspace))
      yield* resumeWorkspace(workspace)
      yield* eventually(readExecutions(workspace), ({ length }) => length === 3)
    })
  )

  it.effect("keeps its order when its workspace is stopped and resumed", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const began: Array<string | null> = []
      answers.set("/stopped", ({ attempt, body }) =>
        Effect.sync(() => {
          began.push(`${body}.${attempt}`)
          return body === "1" && attempt === 1
            ? { status_code: 503, outcome: "retryable" as const, retry_after_seconds: 1 }
            : {}
        })
      )
      const flow = { key: "k", max_concurrency: 1, fifo: true }
      const fields = { retry_count: 1, body: "{{ input.n }}" }
      const task = yield* insertInFlow(workspace, "/stopped", flow, fields)
      for (const n of [1, 2]) yield* enqueue(workspace, task, { n })
      yield* eventually(readRuns(workspace), (runs) => runs.some(({ attempt }) => attempt === 2))
      yield* stopWorkspace(workspace)
      yield* eventually(readRuns(workspace), (runs) =>
        runs.every(({ state }) => state === "parked")
      )
      yield* resumeWorkspace(workspace)
      yield* eventually(readExecutions(workspace), ({ length }) => length === 2)
      assert.deepStrictEqual(began, ["1.1", "1.2", "2.1"])
    })
  )
})

const stopWorkspace = (id: AuthorizedWorkspaceId) =>
  Effect.flatMap(RunQueue, (queue) => queue.stopWorkspace(id))

const resumeWorkspace = (id: AuthorizedWorkspaceId) =>
  Effect.flatMap(RunQueue, (queue) => queue.resumeWorkspace(id))
