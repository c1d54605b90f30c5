import { assert, layer } from "@effect/vitest"
import { MonitorKind } from "@scheduling/domain/monitors/Monitor"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ask, statusAndError, readPages, signUp, times, runConcurrently } from "../support/http.ts"
import { testAppLayer, testNow } from "../support/TestApp.ts"
import { workerClientOf } from "../workers/workers.ts"
import { setUpHeartbeat, monitorClientOf } from "./monitors.ts"

const inputs: Readonly<Record<MonitorKind, object>> = {
  heartbeat: { name: "Nightly backup", period_seconds: 3600 },
  ssl: { name: "Website", host: "www.example.com" },
  process: { name: "Database", match: { name: "postgres" } },
  http: { name: "Website", url: "https://www.example.com/health" },
  tcp: { name: "Cache", host: "cache.example.com", port: 6379 },
  dns: { name: "Records", host: "www.example.com" }
}

/**
 * Creates an account with a workspace. Returns functions that send requests for one kind of
 * monitor. The test's clock is set to noon.
 */
const setUp = Effect.fnUntraced(function* (kind: MonitorKind) {
  yield* TestClock.setTime(testNow)
  const member = yield* signUp()
  const worker = kind === "process" && {
    worker_id: (yield* workerClientOf(member).create()).body.id
  }
  return { member, monitors: monitorClientOf(kind, member, { ...inputs[kind], ...worker }) }
})

const typesIn = (events: ReadonlyArray<{ readonly type: string }>) => events.map(({ type }) => type)

layer(testAppLayer())("a monitor of each kind", (it) => {
  it.effect.each(MonitorKind.literals)("is created once per idempotency key: %s", (kind) =>
    Effect.gen(function* () {
      const { monitors } = yield* setUp(kind)
      const headers = { "idempotency-key": "once" }
      const first = yield* monitors.create({}, headers)
      assert.strictEqual(first.status, 201, first.text)
      assert.deepStrictEqual((yield* monitors.create({}, headers)).body, first.body)
      const other = yield* monitors.create({ name: "Other" }, headers)
      assert.strictEqual(statusAndError(other), "422 idempotency_mismatch")
      assert.deepStrictEqual((yield* monitors.get(first.body.id)).body, first.body)
      assert.deepStrictEqual((yield* monitors.list()).body.data, [first.body])
    })
  )

  it.effect.each(MonitorKind.literals)("is updated only in the given fields: %s", (kind) =>
    Effect.gen(function* () {
      const { monitors } = yield* setUp(kind)
      const { body: monitor } = yield* monitors.create()
      yield* monitors.create({ key: "taken" })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* monitors.update(monitor.id, {})).body, monitor)
      const changes = { name: "Renamed", tags: ["a"], key: "own" }
      const { body: changed } = yield* monitors.update(monitor.id, changes)
      assert.deepInclude(changed, { ...changes, updated_at: "2026-06-01T12:01:00.000Z" })
      const taken = yield* monitors.update(monitor.id, { key: "taken" })
      assert.strictEqual(statusAndError(taken), "409 conflict")
      const wrong = yield* monitors.update(monitor.id, { status: "up" })
      assert.strictEqual(statusAndError(wrong), "422 validation_failed")
      assert.deepStrictEqual((yield* monitors.get(monitor.id)).body, changed)
    })
  )

  it.effect.each(MonitorKind.literals)("is paused and resumed: %s", (kind) =>
    Effect.gen(function* () {
      const { monitors } = yield* setUp(kind)
      const { body: monitor } = yield* monitors.create()
      yield* TestClock.adjust("1 minute")
      const { body: paused } = yield* monitors.act(monitor.id, "pause")
      assert.deepStrictEqual(paused, {
        ...monitor,
        version: 2,
        paused: true,
        status: "paused",
        last_change_at: "2026-06-01T12:01:00.000Z",
        next_check_at: null,
        updated_at: "2026-06-01T12:01:00.000Z"
      })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* monitors.act(monitor.id, "pause")).body, paused)
      const renamed = yield* monitors.update(monitor.id, { name: "Renamed" })
      assert.deepInclude(renamed.body, { status: "paused", next_check_at: null })
      const { body: resumed } = yield* monitors.act(monitor.id, "resume")
      assert.deepInclude(resumed, {
        status: "new",
        last_change_at: "2026-06-01T12:02:00.000Z",
        updated_at: "2026-06-01T12:02:00.000Z"
      })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* monitors.act(monitor.id, "resume")).body, resumed)
      const { body: events } = yield* monitors.events(monitor.id)
      assert.deepStrictEqual(typesIn(events.data), ["resumed", "paused"])
      assert.deepInclude(events.data[1], { status: "paused", at: "2026-06-01T12:01:00.000Z" })
    })
  )

  it.effect.each(MonitorKind.literals)("is not found after it was deleted: %s", (kind) =>
    Effect.gen(function* () {
      const { monitors } = yield* setUp(kind)
      const { id } = (yield* monitors.create()).body
      assert.strictEqual(statusAndError(yield* monitors.remove(id)), "204")
      for (const answer of [
        yield* monitors.get(id),
        yield* monitors.update(id, { name: "Too late" }),
        yield* monitors.remove(id),
        yield* monitors.act(id, "pause"),
        yield* monitors.act(id, "resume"),
        yield* monitors.events(id)
      ]) {
        assert.strictEqual(statusAndError(answer), "404 not_found")
        assert.strictEqual(answer.body.detail.resource, "monitor")
      }
    })
  )

  it.effect.each(MonitorKind.literals)(
    "is listed in pages, filtered by status, tag, name and key: %s",
    (kind) =>
      Effect.gen(function* () {
        const { member, monitors } = yield* setUp(kind)
        const ids: Array<string> = []
        for (const [index, name] of ["one", "Two", "three"].entries()) {
          yield* TestClock.adjust("1 millis")
          const tags = [`tag ${index % 2}`]
          ids.unshift((yield* monitors.create({ name, tags, key: name })).body.id)
        }
        yield* monitors.act(ids[0] ?? "", "pause")
        const path = `${member.workspace}/monitors/${kind}`
        const pages = yield* readPages(path, member.access_token, 2)
        assert.deepStrictEqual(
          pages.map((page) => page.map(({ id }) => id)),
          [ids.slice(0, 2), ids.slice(2)]
        )
        const namesOf = (query: string) =>
          Effect.map(monitors.list(query), ({ body }) =>
            body.data.map(({ name }: { readonly name: string }) => name)
          )
        assert.deepStrictEqual(yield* namesOf("?status=paused"), ["three"])
        assert.deepStrictEqual(yield* namesOf("?tag=tag%200&tag=none"), ["three", "one"])
        assert.deepStrictEqual(yield* namesOf("?name=tw"), ["Two"])
        assert.deepStrictEqual(yield* namesOf("?key=one"), ["one"])
        const allOf = (query: string) =>
          ask("GET", `${member.workspace}/monitors${query}`, { token: member.access_token })
        const all = yield* allOf(`?limit=1&status=new&kind=${kind}`)
        const counts = { new: 2, up: 0, late: 0, warning: 0, down: 0, paused: 1 }
        assert.deepStrictEqual(all.body.counts, counts)
        const { body: second } = yield* monitors.get(ids[1] ?? "")
        const { next_check_at, status } = second
        assert.deepInclude(all.body.data[0], { kind, id: ids[1], status, next_check_at })
        const other = kind === "ssl" ? "process" : "ssl"
        assert.deepStrictEqual((yield* allOf(`?kind=${other}`)).body.data, [])
      })
  )
})

layer(testAppLayer())("monitors of all kinds", (it) => {
  it.effect("are listed by their ids, without monitors of other workspaces", () =>
    Effect.gen(function* () {
      const { member, monitors } = yield* setUp("ssl")
      const { id } = (yield* monitors.create()).body
      const heartbeats = monitorClientOf("heartbeat", member, inputs.heartbeat)
      yield* TestClock.adjust("1 millis")
      const { body: heartbeat } = yield* heartbeats.create()
      yield* heartbeats.create()
      const chosen = (ids: ReadonlyArray<string>) =>
        ask("GET", `${member.workspace}/monitors?monitor_ids=${ids.join(",")}`, {
          token: member.access_token
        })
      const some = yield* chosen([id, heartbeat.id, id, member.user_id])
      assert.deepStrictEqual(
        some.body.data.map((monitor: { readonly id: string }) => monitor.id),
        [heartbeat.id, id]
      )
      const counted = yield* ask("GET", `${member.workspace}/monitors?limit=1&total=true`, {
        token: member.access_token
      })
      assert.strictEqual(counted.body.total, 3)
      const stranger = yield* setUpHeartbeat()
      assert.deepStrictEqual((yield* chosen([stranger.id])).body.data, [])
      assert.strictEqual((yield* chosen(times(101, () => id))).status, 422)
    })
  )

  it.effect("are limited to 1000 per workspace, even when several are created simultaneously", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { member, monitors } = yield* setUp("ssl")
      const { id } = (yield* monitors.create()).body
      yield* sql`
        INSERT INTO monitors (
          id, workspace_id, kind, name, tags, status, changed_at, created_at, updated_at
        )
        SELECT
          gen_random_uuid(), workspace_id, kind, name, tags, status, changed_at, created_at,
          updated_at
        FROM monitors, generate_series(1, 998)
        WHERE id = ${id}`
      const heartbeats = monitorClientOf("heartbeat", member, inputs.heartbeat)
      const created = yield* runConcurrently([
        monitors.create(),
        heartbeats.create(),
        heartbeats.create()
      ])
      assert.deepStrictEqual(created.map(statusAndError).toSorted(), [
        "201",
        "402 quota_exceeded",
        "402 quota_exceeded"
      ])
      const refused = created.find(({ status }) => status === 402)
      assert.deepInclude(refused?.body.detail, { quota: "monitors", limit: 1000 })
      yield* sql`DELETE FROM workspaces WHERE id = ${member.workspace_id}`
    })
  )
})
