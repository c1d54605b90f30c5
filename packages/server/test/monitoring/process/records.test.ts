// @tags idle
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Processes } from "../../../src/monitoring/process/Processes.ts"
import { ProcessMonitorsRepo } from "../../../src/monitoring/process/ProcessMonitorsRepo.ts"
import { subjectRemoved } from "../../../src/events/Outbox.ts"
import { ask, createKey, statusAndError, signUp } from "../../support/http.ts"
import { keyedClientOf } from "../../support/keyed.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { agentClientOf, workerClientOf } from "../../workers/workers.ts"
import { processClientOf } from "../monitors.ts"
import { processNodeLayer } from "./node.ts"

const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  const workers = workerClientOf(member)
  const worker = (yield* workers.create()).body
  const agent = agentClientOf(worker.token)
  const session = Number((yield* agent.hello()).body.session)
  const monitors = processClientOf(member)
  const input = { name: "Database", worker_id: worker.id, match: { name: "postgres" } }
  return { agent, input, member, monitors, session, worker, workers }
})

const online = Effect.fnUntraced(function* (
  workers: ReturnType<typeof workerClientOf>,
  labels: ReadonlyArray<string>,
  name = "Office"
) {
  const { id, token } = (yield* workers.create({ name, labels })).body
  const agent = agentClientOf(token)
  const session = Number((yield* agent.hello()).body.session)
  return { id: String(id), agent, session }
})

type Online = Pick<Effect.Success<ReturnType<typeof online>>, "agent" | "session">

/**
 * Creates a monitor that has labels and no grace period, and two online workers with the same
 * labels.
 */
const beginWithLabels = Effect.fnUntraced(function* (rules: object = {}) {
  const member = yield* signUp()
  const workers = workerClientOf(member)
  const monitors = processClientOf(member)
  const first = yield* online(workers, ["web", "eu"], "web 1")
  const second = yield* online(workers, ["web", "eu"], "web 2")
  const created = yield* monitors.create({
    name: "nginx",
    labels: ["web", "eu"],
    match: { name: "nginx" },
    interval_seconds: 10,
    grace_seconds: 0,
    ...rules
  })
  assert.strictEqual(created.status, 201, created.text)
  const id = String(created.body.id)
  const sendReport = ({ agent, session }: Online, count: number) =>
    Effect.andThen(
      TestClock.adjust("1 second"),
      agent.beat(session, { reports: [report(id, count)] })
    )
  const { checkDue } = yield* Effect.provide(Processes, processNodeLayer)
  const status = Effect.gen(function* () {
    yield* checkDue
    return (yield* monitors.get(id)).body.status
  })
  return { first, id, member, monitors, second, status, sendReport, workers }
})

const report = (monitor_id: string, count: number) => ({
  monitor_id,
  count,
  rss_bytes: 1_000,
  cpu_percent: null,
  pids: []
})

layer(testAppLayer())("a process monitor", (it) => {
  it.effect("is created with defaults, and updated", () =>
    Effect.gen(function* () {
      const { input, monitors } = yield* setUp
      const created = yield* monitors.create(input)
      assert.strictEqual(created.status, 201, created.text)
      assert.deepInclude(created.body, {
        ...input,
        tags: [],
        depends_on: [],
        status: "new",
        labels: null,
        judge: "each",
        min_count: 1,
        max_count: null,
        interval_seconds: 30,
        grace_seconds: 60,
        last_report: null
      })
      const { id } = created.body
      const changed = yield* monitors.update(id, { max_count: 3, match: { pid_file: "/run/x" } })
      assert.deepInclude(changed.body, { max_count: 3, match: { pid_file: "/run/x" } })
    })
  )

  it.effect("rejects a minimum above the maximum", () =>
    Effect.gen(function* () {
      const { input, member, monitors } = yield* setUp
      const keyed = keyedClientOf(member)
      const none = yield* monitors.create({ ...input, max_count: 0 })
      assert.deepInclude(none.body, { min_count: 0, max_count: 0 })
      const put = yield* keyed.put("monitors/process", "none", { ...input, max_count: 0 })
      assert.deepInclude(put.body, { min_count: 0, max_count: 0 })
      const { id } = (yield* monitors.create({ ...input, min_count: 2, max_count: 2 })).body
      const impossible = { min_count: 3, max_count: 2 }
      for (const refused of [
        yield* monitors.create({ ...input, ...impossible }),
        yield* monitors.create({ ...input, min_count: 1, max_count: 0 }),
        yield* keyed.put("monitors/process", "none", { ...input, ...impossible }),
        yield* monitors.update(id, impossible),
        yield* monitors.update(id, { min_count: 3 }),
        yield* monitors.update(id, { max_count: 1 })
      ]) {
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
        assert.deepStrictEqual(refused.body.detail.issues[0].path, ["max_count"])
      }
      const freed = yield* monitors.update(id, { min_count: 3, max_count: null })
      assert.deepInclude(freed.body, { min_count: 3, max_count: null })
    })
  )

  it.effect("is sent to the agent of its worker, and changes by the agent's reports", () =>
    Effect.gen(function* () {
      const { agent, input, member, monitors, session, worker } = yield* setUp
      const { id } = (yield* monitors.create({ ...input, grace_seconds: 20 })).body
      assert.deepStrictEqual((yield* agent.beat(session)).body.watch, [
        { monitor_id: id, match: { name: "postgres" }, interval_seconds: 30 }
      ])
      const sendReport = (count: number) => agent.beat(session, { reports: [report(id, count)] })
      yield* sendReport(1)
      const seen = (yield* monitors.get(id)).body
      assert.deepInclude(seen, { status: "up" })
      assert.deepInclude(seen.last_report, {
        worker_id: worker.id,
        count: 1,
        rss_bytes: 1_000
      })
      yield* sendReport(0)
      assert.strictEqual((yield* monitors.get(id)).body.status, "up")
      yield* TestClock.adjust("20 seconds")
      yield* sendReport(0)
      const down = (yield* monitors.get(id)).body
      assert.strictEqual(down.status, "down")
      const token = member.access_token
      const incidents = yield* ask("GET", `${member.workspace}/incidents`, { token })
      assert.strictEqual(incidents.body.data[0].id, down.open_incident_id)
      assert.strictEqual(incidents.body.data[0].cause.code, "too_few")
      yield* sendReport(1)
      assert.deepInclude((yield* monitors.get(id)).body, { status: "up", open_incident_id: null })
    })
  )

  it.effect("ignores reports of other workers, and all reports while it is paused", () =>
    Effect.gen(function* () {
      const fixture = yield* setUp
      const stranger = yield* setUp
      const { id } = (yield* fixture.monitors.create(fixture.input)).body
      yield* stranger.agent.beat(stranger.session, { reports: [report(id, 1)] })
      assert.isNull((yield* fixture.monitors.get(id)).body.last_report)
      yield* fixture.monitors.act(id, "pause")
      const { watch } = (yield* fixture.agent.beat(fixture.session, { reports: [report(id, 1)] }))
        .body
      assert.deepStrictEqual(watch, [])
      assert.isNull((yield* fixture.monitors.get(id)).body.last_report)
      const foreign = yield* fixture.monitors.create({
        ...fixture.input,
        worker_id: stranger.worker.id
      })
      assert.strictEqual(statusAndError(foreign), "422 validation_failed")
      assert.deepStrictEqual(foreign.body.detail.issues[0].path, ["worker_id"])
      const keyed = keyedClientOf(fixture.member)
      const theirs = { ...fixture.input, worker_id: stranger.worker.id }
      yield* keyed.put("monitors/process", "known", fixture.input)
      for (const key of ["known", "new"]) {
        const put = yield* keyed.put("monitors/process", key, theirs)
        assert.strictEqual(statusAndError(put), "422 validation_failed")
      }
      const moved = yield* fixture.monitors.update(id, { worker_id: stranger.worker.id })
      assert.strictEqual(statusAndError(moved), "422 validation_failed")
    })
  )

  it.effect("is due when a report is missing", () =>
    Effect.gen(function* () {
      const { input, monitors } = yield* setUp
      const { id, next_check_at } = (yield* monitors.create(input)).body
      const repo = yield* Effect.provide(ProcessMonitorsRepo, ProcessMonitorsRepo.layer)
      const next = yield* repo.findNextCheck
      assert.isAtMost(next?.getTime() ?? Infinity, Date.parse(next_check_at))
      const sql = yield* SqlClient.SqlClient
      const dueAt = (ms: number) =>
        Effect.map(sql.withTransaction(repo.findDueForUpdate(new Date(ms), 500)), (rows) =>
          rows.some(({ monitor_id }) => monitor_id === id)
        )
      assert.isFalse(yield* dueAt(Date.parse(next_check_at) - 1))
      assert.isTrue(yield* dueAt(Date.parse(next_check_at)))
    })
  )

  it.effect("goes down for silence after an outage of the service, not during it", () =>
    Effect.gen(function* () {
      const { first, status, sendReport } = yield* beginWithLabels()
      const sql = yield* SqlClient.SqlClient
      yield* sendReport(first, 1)
      assert.strictEqual(yield* status, "up")
      yield* TestClock.adjust("5 minutes")
      const back = yield* DateTime.nowAsDate
      yield* sql`
        INSERT INTO absences (began_at, ended_at)
        VALUES (${new Date(back.getTime() - 290_000)}, ${back})`
      assert.strictEqual(yield* status, "up")
      yield* TestClock.adjust("19 seconds")
      assert.strictEqual(yield* status, "up")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* status, "down")
    })
  )

  it.effect("is shown with the scope monitors:read, and deleted with its worker", () =>
    Effect.gen(function* () {
      const { input, member, monitors, worker, workers } = yield* setUp
      const first = yield* monitors.create(input)
      const { key } = yield* createKey(member, { scopes: ["monitors:read"] })
      const own = `${member.workspace}/monitors/process/${first.body.id}`
      assert.strictEqual((yield* ask("GET", own, { token: key })).status, 200)
      yield* workers.remove(worker.id)
      assert.strictEqual(statusAndError(yield* monitors.get(first.body.id)), "404 not_found")
      const all = yield* ask("GET", `${member.workspace}/monitors`, { token: key })
      assert.deepStrictEqual(all.body.data, [])
    })
  )

  it.effect("closes its problem when its worker is deleted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { input, member, monitors, worker, workers } = yield* setUp
      const { id } = (yield* monitors.create(input)).body
      // The problem that the notification named when the monitor went down.
      yield* sql`
        INSERT INTO problems (subject_id, workspace_id, event, failures, since, notified_at, tags, data)
        VALUES (
          ${id}, ${member.workspace.split("/").at(-1)}, 'incident.opened', 1, now(), now(), '{}',
          '{"name":"Database"}'
        )`
      yield* workers.remove(worker.id)
      const notifications = yield* sql`
        SELECT event
        FROM outbox
        WHERE subject_id = ${id}`
      assert.deepStrictEqual(notifications, [{ event: subjectRemoved }])
    })
  )

  it.effect("with labels is sent to all workers that have them, and to no others", () =>
    Effect.gen(function* () {
      const { id, monitors, ...fixture } = yield* beginWithLabels()
      const plain = yield* setUp
      const other = yield* online(fixture.workers, ["db"])
      const watchedBy = ({ agent, session }: Online) =>
        Effect.map(agent.beat(session), ({ body }) => body.watch)
      const watched = [{ monitor_id: id, match: { name: "nginx" }, interval_seconds: 10 }]
      assert.deepStrictEqual(yield* watchedBy(fixture.first), watched)
      assert.deepStrictEqual(yield* watchedBy(fixture.second), watched)
      for (const stranger of [other, plain]) {
        assert.deepStrictEqual(yield* watchedBy(stranger), [])
        yield* stranger.agent.beat(stranger.session, { reports: [report(id, 1)] })
      }
      assert.isNull((yield* monitors.get(id)).body.last_report)
      yield* fixture.workers.update(other.id, { labels: ["db", "web", "eu"] })
      assert.deepStrictEqual(yield* watchedBy(other), watched)
    })
  )

  it.effect("with labels is down while any online worker breaks a rule", () =>
    Effect.gen(function* () {
      const { first, id, second, status, sendReport, ...fixture } = yield* beginWithLabels()
      yield* sendReport(first, 1)
      yield* sendReport(second, 0)
      assert.strictEqual(yield* status, "down")
      const down = (yield* fixture.monitors.get(id)).body
      assert.strictEqual(down.last_report.worker_id, second.id)
      const token = fixture.member.access_token
      const incidents = yield* ask("GET", `${fixture.member.workspace}/incidents`, { token })
      assert.match(
        incidents.body.data[0].cause.message,
        /^On web 2: 0 matching processes are running/
      )
      yield* sendReport(first, 1)
      assert.strictEqual(yield* status, "down")
      yield* sendReport(second, 1)
      assert.strictEqual(yield* status, "up")
      yield* sendReport(second, 0)
      assert.strictEqual(yield* status, "down")
      yield* second.agent.beat(second.session, { leaving: true })
      yield* sendReport(first, 1)
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual(yield* status, "up")
      yield* first.agent.beat(first.session, { leaving: true })
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* status, "down")
      const last = yield* ask("GET", `${fixture.member.workspace}/incidents`, { token })
      assert.strictEqual(last.body.data[0].cause.code, "worker_offline")
    })
  )

  it.effect("applies its rules to the sum of all workers with judge: together", () =>
    Effect.gen(function* () {
      const { first, second, status, sendReport } = yield* beginWithLabels({
        judge: "together",
        max_count: 1
      })
      yield* sendReport(first, 1)
      yield* sendReport(second, 0)
      assert.strictEqual(yield* status, "up")
      yield* sendReport(second, 1)
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual(yield* status, "down")
      yield* sendReport(first, 0)
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual(yield* status, "up")
      yield* second.agent.beat(second.session, { leaving: true })
      yield* sendReport(first, 0)
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual(yield* status, "down")
    })
  )

  it.effect("moves from labels to a worker and back, and forgets earlier reports", () =>
    Effect.gen(function* () {
      const { first, id, monitors, status, sendReport, ...fixture } = yield* beginWithLabels()
      yield* sendReport(first, 0)
      assert.strictEqual(yield* status, "down")
      const moved = (yield* monitors.update(id, { worker_id: fixture.second.id })).body
      assert.deepInclude(moved, { worker_id: fixture.second.id, labels: null })
      yield* sendReport(first, 1)
      yield* sendReport(fixture.second, 1)
      assert.strictEqual(yield* status, "up")
      assert.strictEqual((yield* monitors.get(id)).body.last_report.worker_id, fixture.second.id)
      const back = (yield* monitors.update(id, { labels: ["eu"] })).body
      assert.deepInclude(back, { worker_id: null, labels: ["eu"] })
      yield* fixture.workers.remove(fixture.second.id)
      assert.strictEqual((yield* monitors.get(id)).status, 200)
    })
  )

  it.effect.each([
    [{ labels: ["web"] }, "labels"],
    [{ worker_id: undefined }, "worker_id"],
    [{ worker_id: undefined, labels: [] }, "labels"],
    [{ judge: "some" }, "judge"],
    [{ match: {} }, "match"],
    [{ match: { name: "a", pid_file: "b" } }, "match"],
    [{ interval_seconds: 9 }, "interval_seconds"]
  ] as const)("is refused with %j", ([change, field]) =>
    Effect.gen(function* () {
      const { input, monitors } = yield* setUp
      const refused = yield* monitors.create({ ...input, ...change })
      assert.strictEqual(statusAndError(refused), "422 validation_failed")
      assert.strictEqual(refused.body.detail.issues[0].path[0], field)
    })
  )
})
