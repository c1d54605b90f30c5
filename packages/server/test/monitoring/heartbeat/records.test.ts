import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ask, createKey, newMember, statusAndError, times } from "../../support/http.ts"
import { testAppLayer, twoTestNodesLayer } from "../../support/TestApp.ts"
import { setUpHeartbeats, setUpHeartbeat, minimalHeartbeat } from "../monitors.ts"

layer(twoTestNodesLayer())("a heartbeat monitor", (it) => {
  it.effect("is created with the given fields and defaults for the others", () =>
    Effect.gen(function* () {
      const { heartbeats, id, member, monitor } = yield* setUpHeartbeat()
      assert.match(monitor.ping_url, /^http:\/\/127\.0\.0\.1:\d+\/ping\/[0-9a-f-]{36}$/)
      assert.deepStrictEqual(monitor, {
        id,
        workspace_id: member.workspace_id,
        key: null,
        version: 1,
        name: "Nightly backup",
        tags: [],
        depends_on: [],
        status: "new",
        paused: false,
        last_change_at: "2026-06-01T12:00:00.000Z",
        next_check_at: null,
        open_incident_id: null,
        created_by: monitor.created_by,
        updated_by: monitor.created_by,
        created_at: "2026-06-01T12:00:00.000Z",
        updated_at: "2026-06-01T12:00:00.000Z",
        period_seconds: 3600,
        schedule: null,
        timezone: null,
        grace_seconds: 300,
        max_duration_seconds: null,
        min_interval_seconds: null,
        ping_url: monitor.ping_url,
        last_ping_at: null,
        last_duration_ms: null,
        running_since: null,
        expected_at: null,
        alert_at: null
      })
      assert.deepStrictEqual((yield* heartbeats.get(id)).body, monitor)
      assert.deepStrictEqual((yield* heartbeats.list()).body.data, [monitor])
    })
  )

  it.effect.each([
    [{}, "name"],
    [{ name: " ", period_seconds: 60 }, "name"],
    [{ name: "x" }, "period_seconds"],
    [{ ...minimalHeartbeat, schedule: "0 3 * * *" }, "schedule"],
    [{ name: "x", schedule: "0 25 * * *" }, "schedule"],
    [{ ...minimalHeartbeat, period_seconds: 29 }, "period_seconds"],
    [{ ...minimalHeartbeat, grace_seconds: 31_536_001 }, "grace_seconds"],
    [{ ...minimalHeartbeat, max_duration_seconds: 0 }, "max_duration_seconds"],
    [{ ...minimalHeartbeat, min_interval_seconds: 3600 }, "min_interval_seconds"],
    [{ ...minimalHeartbeat, timezone: "Europe/Berlin" }, "timezone"],
    [{ name: "x", schedule: "0 3 * * *", timezone: "CEST" }, "timezone"],
    [{ ...minimalHeartbeat, tags: ["a", "a"] }, "tags"],
    [{ ...minimalHeartbeat, tags: times(21, String) }, "tags"],
    [{ ...minimalHeartbeat, ping_url: "http://x" }, "ping_url"]
  ] as const)("is refused with invalid fields: %j", ([input, field]) =>
    Effect.gen(function* () {
      const { heartbeats } = yield* setUpHeartbeats
      const answer = yield* heartbeats.create(input)
      assert.strictEqual(statusAndError(answer), "422 validation_failed")
      assert.include(
        answer.body.detail.issues.map(({ path }: { path: ReadonlyArray<unknown> }) => path[0]),
        field
      )
    })
  )

  it.effect("hides its ping URL from callers with read access only", () =>
    Effect.gen(function* () {
      const { id, member } = yield* setUpHeartbeat()
      const { key } = yield* createKey(member, { scopes: ["monitors:read"] })
      const path = `${member.workspace}/monitors/heartbeat`
      const one = yield* ask("GET", `${path}/${id}`, { token: key })
      assert.strictEqual(one.status, 200)
      assert.isNull(one.body.ping_url)
      const all = yield* ask("GET", path, { token: key })
      assert.isNull(all.body.data[0].ping_url)
      const viewer = yield* newMember(member, "viewer")
      const asViewer = yield* ask("GET", path, { token: viewer.access_token })
      assert.strictEqual(asViewer.body.data[0].id, id)
      assert.isNull(asViewer.body.data[0].ping_url)
      const { body } = yield* ask("GET", `${path}/${id}`, { token: viewer.access_token })
      assert.isNull(body.ping_url)
      for (const writer of [member, yield* newMember(member, "editor")]) {
        const asWriter = yield* ask("GET", path, { token: writer.access_token })
        assert.isString(asWriter.body.data[0].ping_url)
      }
    })
  )

  it.effect("has a ping URL that the database stores only hashed and encrypted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { url } = yield* setUpHeartbeat()
      const secret = url.slice(-36)
      const rows = yield* sql`
        SELECT monitor_id
        FROM ping_urls
        WHERE strpos(ping_urls::text, ${secret}) > 0 OR strpos(ping_urls::text, ${secret.slice(0, 8)}) > 0`
      assert.deepStrictEqual(rows, [])
    })
  )

  it.effect("gets a new ping URL, and the old one stops working immediately on every node", () =>
    Effect.gen(function* () {
      const { heartbeats, id, monitor, ping } = yield* setUpHeartbeat()
      assert.strictEqual((yield* ping()).status, 200)
      const rotated = yield* heartbeats.act(id, "rotate-url")
      assert.strictEqual(rotated.status, 200)
      assert.notStrictEqual(rotated.body.ping_url, monitor.ping_url)
      for (const at of ["url", "otherUrl"] as const) {
        assert.strictEqual((yield* ping("", { at })).status, 404)
        const renewed = new URL(rotated.body.ping_url).pathname
        assert.strictEqual((yield* ask("GET", renewed, { at })).status, 200)
      }
    })
  )

  it.effect("is updated only in the given fields", () =>
    Effect.gen(function* () {
      const { heartbeats, id, monitor } = yield* setUpHeartbeat()
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* heartbeats.update(id, {})).body, monitor)
      const changes = { name: "Renamed", tags: ["a"], grace_seconds: 60, max_duration_seconds: 30 }
      const changed = yield* heartbeats.update(id, changes)
      assert.deepStrictEqual(changed.body, {
        ...monitor,
        ...changes,
        version: 2,
        updated_at: "2026-06-01T12:01:00.000Z"
      })
      const scheduled = yield* heartbeats.update(id, {
        schedule: "0 3 * * *",
        timezone: "Europe/Berlin",
        max_duration_seconds: null
      })
      assert.deepInclude(scheduled.body, {
        period_seconds: null,
        schedule: "0 3 * * *",
        timezone: "Europe/Berlin",
        max_duration_seconds: null
      })
      const back = yield* heartbeats.update(id, { period_seconds: 60 })
      assert.deepInclude(back.body, { period_seconds: 60, schedule: null, timezone: null })
      for (const [wrong, field] of [
        [{ timezone: "Europe/Berlin" }, "timezone"],
        [{ min_interval_seconds: 60 }, "min_interval_seconds"],
        [{ period_seconds: 60, schedule: "0 3 * * *" }, "schedule"]
      ] as const) {
        const refused = yield* heartbeats.update(id, wrong)
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
        assert.deepStrictEqual(refused.body.detail.issues[0].path, [field])
      }
      assert.deepStrictEqual((yield* heartbeats.get(id)).body, back.body)
    })
  )

  it.effect("is deleted with its incidents and its ping URL", () =>
    Effect.gen(function* () {
      const { heartbeats, id, ping } = yield* setUpHeartbeat()
      yield* ping("/fail")
      const removed = yield* heartbeats.remove(id)
      assert.strictEqual(removed.status, 204)
      assert.strictEqual((yield* ping()).status, 404)
      assert.deepStrictEqual((yield* heartbeats.incidents()).body.data, [])
      assert.strictEqual(statusAndError(yield* heartbeats.act(id, "rotate-url")), "404 not_found")
    })
  )
})

const viaProxy = { "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https" }

const requestedScheme = Effect.gen(function* () {
  const { member, monitor } = yield* setUpHeartbeat()
  const { body } = yield* ask("GET", `${member.workspace}/monitors/heartbeat/${monitor.id}`, {
    token: member.access_token,
    headers: viaProxy
  })
  return new URL(body.ping_url).protocol
})

layer(testAppLayer())("a ping URL requested through a trusted proxy", (it) => {
  it.effect("has the scheme of the X-Forwarded-Proto header", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* requestedScheme, "https:")
    })
  )
})

layer(testAppLayer({ trustProxy: [] }))("a ping URL if no proxy is trusted", (it) => {
  it.effect("ignores the X-Forwarded-Proto header", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* requestedScheme, "http:")
    })
  )
})
