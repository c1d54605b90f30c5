import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ProcessMonitorsRepo } from "../../../src/monitors/process/ProcessMonitorsRepo.ts"
import { subjectGone } from "../../../src/outbox/Outbox.ts"
import { ask, createKey, outcome, signUp } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { agentOf, workersOf } from "../../workers/workers.ts"
import { processesOf } from "../monitors.ts"

const begin = Effect.gen(function* () {
  const member = yield* signUp()
  const workers = workersOf(member)
  const worker = (yield* workers.create()).body
  const agent = agentOf(worker.token)
  const session = Number((yield* agent.hello()).body.session)
  const monitors = processesOf(member)
  const input = { name: "Database", worker_id: worker.id, match: { name: "postgres" } }
  return { agent, input, member, monitors, session, worker, workers }
})

const report = (monitor_id: string, count: number) => ({
  monitor_id,
  count,
  rss_bytes: 1_000,
  cpu_percent: null,
  pids: []
})

layer(testAppLayer())("a process monitor", (it) => {
  it.effect("is created, read, changed, paused, resumed and deleted", () =>
    Effect.gen(function* () {
      const { input, monitors } = yield* begin
      const created = yield* monitors.create(input)
      assert.strictEqual(created.status, 201, created.text)
      assert.deepInclude(created.body, {
        ...input,
        tags: [],
        status: "new",
        min_count: 1,
        max_count: null,
        interval_seconds: 30,
        grace_seconds: 60,
        last_report: null
      })
      const { id } = created.body
      const changed = yield* monitors.update(id, { max_count: 3, match: { pid_file: "/run/x" } })
      assert.deepInclude(changed.body, { max_count: 3, match: { pid_file: "/run/x" } })
      assert.deepStrictEqual((yield* monitors.update(id, {})).body, changed.body)
      assert.strictEqual((yield* monitors.act(id, "pause")).body.status, "paused")
      assert.isNull((yield* monitors.get(id)).body.next_check_at)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* monitors.act(id, "resume")).body.status, "new")
      assert.lengthOf((yield* monitors.list("?status=new")).body.data, 1)
      const types = (yield* monitors.events(id)).body.data.map(
        ({ type }: { readonly type: string }) => type
      )
      assert.deepStrictEqual(types, ["resumed", "paused"])
      assert.strictEqual(outcome(yield* monitors.remove(id)), "204")
      assert.strictEqual(outcome(yield* monitors.get(id)), "404 not_found")
    })
  )

  it.effect("is told to the agent of its worker, and judged by what the agent reports", () =>
    Effect.gen(function* () {
      const { agent, input, member, monitors, session } = yield* begin
      const { id } = (yield* monitors.create({ ...input, grace_seconds: 20 })).body
      assert.deepStrictEqual((yield* agent.beat(session)).body.watch, [
        { monitor_id: id, match: { name: "postgres" }, interval_seconds: 30 }
      ])
      const tell = (count: number) => agent.beat(session, { reports: [report(id, count)] })
      yield* tell(1)
      const seen = (yield* monitors.get(id)).body
      assert.deepInclude(seen, { status: "up" })
      assert.deepInclude(seen.last_report, { count: 1, rss_bytes: 1_000 })
      yield* tell(0)
      assert.strictEqual((yield* monitors.get(id)).body.status, "up")
      yield* TestClock.adjust("20 seconds")
      yield* tell(0)
      const down = (yield* monitors.get(id)).body
      assert.strictEqual(down.status, "down")
      const token = member.access_token
      const incidents = yield* ask("GET", `${member.workspace}/incidents`, { token })
      assert.strictEqual(incidents.body.data[0].id, down.open_incident_id)
      assert.strictEqual(incidents.body.data[0].cause.code, "too_few")
      yield* tell(1)
      assert.deepInclude((yield* monitors.get(id)).body, { status: "up", open_incident_id: null })
    })
  )

  it.effect("hears only the agent of its own worker, and nothing while it is paused", () =>
    Effect.gen(function* () {
      const scene = yield* begin
      const stranger = yield* begin
      const { id } = (yield* scene.monitors.create(scene.input)).body
      yield* stranger.agent.beat(stranger.session, { reports: [report(id, 1)] })
      assert.isNull((yield* scene.monitors.get(id)).body.last_report)
      yield* scene.monitors.act(id, "pause")
      const { watch } = (yield* scene.agent.beat(scene.session, { reports: [report(id, 1)] })).body
      assert.deepStrictEqual(watch, [])
      assert.isNull((yield* scene.monitors.get(id)).body.last_report)
      const foreign = yield* scene.monitors.create({
        ...scene.input,
        worker_id: stranger.worker.id
      })
      assert.strictEqual(outcome(foreign), "404 not_found")
      const moved = yield* scene.monitors.update(id, { worker_id: stranger.worker.id })
      assert.strictEqual(outcome(moved), "404 not_found")
    })
  )

  it.effect("is due when nothing was reported in time", () =>
    Effect.gen(function* () {
      const { input, monitors } = yield* begin
      const { id, next_check_at } = (yield* monitors.create(input)).body
      const repo = yield* Effect.provide(ProcessMonitorsRepo, ProcessMonitorsRepo.layer)
      const next = yield* repo.findNextCheck
      assert.isAtMost(next?.getTime() ?? Infinity, Date.parse(next_check_at))
      const sql = yield* SqlClient.SqlClient
      const dueAt = (ms: number) =>
        Effect.map(sql.withTransaction(repo.claimDue(new Date(ms), 500)), (rows) =>
          rows.some(({ monitor_id }) => monitor_id === id)
        )
      assert.isFalse(yield* dueAt(Date.parse(next_check_at) - 1))
      assert.isTrue(yield* dueAt(Date.parse(next_check_at)))
    })
  )

  it.effect("is made once by a repeated create, and goes with its worker", () =>
    Effect.gen(function* () {
      const { input, member, monitors, worker, workers } = yield* begin
      const once = { "idempotency-key": "process-1" }
      const first = yield* monitors.create(input, once)
      assert.deepStrictEqual((yield* monitors.create(input, once)).body, first.body)
      const { key } = yield* createKey(member, { scopes: ["monitors:read"] })
      const own = `${member.workspace}/monitors/process/${first.body.id}`
      assert.strictEqual((yield* ask("GET", own, { token: key })).status, 200)
      yield* workers.remove(worker.id)
      assert.strictEqual(outcome(yield* monitors.get(first.body.id)), "404 not_found")
      const all = yield* ask("GET", `${member.workspace}/monitors`, { token: key })
      assert.deepStrictEqual(all.body.data, [])
    })
  )

  it.effect("is no longer in trouble once its worker is deleted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { input, member, monitors, worker, workers } = yield* begin
      const { id } = (yield* monitors.create(input)).body
      // As if people had been told that it is down.
      yield* sql`
        INSERT INTO troubles (subject_id, workspace_id, event, failures, since, told_at, tags, data)
        VALUES (
          ${id}, ${member.workspace.split("/").at(-1)}, 'monitor.down', 1, now(), now(), '{}',
          '{"name":"Database"}'
        )`
      yield* workers.remove(worker.id)
      const told = yield* sql`
        SELECT event
        FROM outbox
        WHERE subject_id = ${id}`
      assert.deepStrictEqual(told, [{ event: subjectGone }])
    })
  )

  it.effect.each([
    [{ match: {} }, "match"],
    [{ match: { name: "a", pid_file: "b" } }, "match"],
    [{ interval_seconds: 9 }, "interval_seconds"]
  ] as const)("refuses %j", ([change, field]) =>
    Effect.gen(function* () {
      const { input, monitors } = yield* begin
      const refused = yield* monitors.create({ ...input, ...change })
      assert.strictEqual(outcome(refused), "422 validation_failed")
      assert.strictEqual(refused.body.detail.issues[0].path[0], field)
    })
  )
})
