import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  ask,
  createKey,
  statusAndError,
  signUp,
  times,
  runConcurrently
} from "../../support/http.ts"
import { twoTestNodesLayer, testNow } from "../../support/TestApp.ts"
import { heartbeatClientOf, minimalHeartbeat } from "../monitors.ts"

const rid = "0b9f3c5a-1b1e-4c4a-9d2f-3e8b7a6c5d40"
const unknown = "this ping URL does not exist\n"

/** Creates a workspace with a ping key. Returns functions that send pings as jobs would. */
const setUp = Effect.gen(function* () {
  yield* TestClock.setTime(testNow)
  const member = yield* signUp()
  const { key } = yield* createKey(member, { scopes: ["monitors:read", "monitors:write"] })
  const path = `${member.workspace}/monitors/heartbeat/ping-key`
  const rotate = ask("POST", `${path}/rotate`, { token: member.access_token })
  const rotated = yield* rotate
  assert.strictEqual(rotated.status, 201, rotated.text)
  const pingKey = String(rotated.body.ping_key)
  return {
    member,
    path,
    pingKey,
    rotate,
    heartbeats: heartbeatClientOf({ ...member, access_token: key }),
    ping: (rest: string, method = "GET", body?: string) =>
      ask(
        method,
        `/ping/${pingKey}/${rest}`,
        body === undefined ? {} : { body, headers: { "content-type": "text/plain" } }
      )
  }
})

layer(twoTestNodesLayer())("a ping with a ping key", (it) => {
  it.effect("names a heartbeat by its key, as the wrappers of cron jobs do", () =>
    Effect.gen(function* () {
      const { heartbeats, ping } = yield* setUp
      const { body: monitor } = yield* heartbeats.create({ ...minimalHeartbeat, key: "backup" })
      for (const [rest, method, status] of [
        ["backup", "GET", "up"],
        ["backup", "HEAD", "up"],
        ["backup/start", "POST", "up"],
        ["backup/fail", "POST", "down"],
        ["backup/log", "POST", "down"],
        ["backup/0", "POST", "up"],
        ["backup/3", "POST", "down"],
        [`backup/0?rid=${rid}`, "POST", "up"]
      ] as const) {
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* ping(rest, method)).status, 200, rest)
        assert.strictEqual((yield* heartbeats.get(monitor.id)).body.status, status, rest)
      }
      const events = yield* heartbeats.events(monitor.id)
      assert.lengthOf(events.body.data, 8)
    })
  )

  it.effect("creates the heartbeat with ?create=1, once", () =>
    Effect.gen(function* () {
      const { heartbeats, member, ping } = yield* setUp
      assert.deepInclude(yield* ping("nightly"), { status: 404, text: unknown })
      // The requests that `runitor -create -slug nightly -ping-key KEY` sends.
      const start = yield* ping(`nightly/start?create=1&rid=${rid}`, "POST")
      assert.deepInclude(start, { status: 201, text: "Created\n" })
      yield* TestClock.adjust("2 seconds")
      const end = yield* ping(`nightly/0?create=1&rid=${rid}`, "POST", "42 files")
      assert.deepInclude(end, { status: 200, text: "OK\n" })
      const [monitor] = (yield* heartbeats.list("?key=nightly")).body.data
      assert.deepInclude(monitor, {
        key: "nightly",
        name: "nightly",
        period_seconds: 86_400,
        grace_seconds: 3_600,
        status: "up",
        last_duration_ms: 2_000
      })
      const answers = yield* runConcurrently(times(5, () => ping("weekly?create=1")))
      assert.deepStrictEqual(
        answers.map(({ status }) => status).toSorted(),
        [200, 200, 200, 200, 201]
      )
      assert.lengthOf((yield* heartbeats.list()).body.data, 2)
      const audit = yield* ask("GET", `${member.workspace}/audit?action=monitor.created`, {
        token: member.access_token
      })
      assert.lengthOf(audit.body.data, 2)
      assert.strictEqual(audit.body.data[0].actor.kind, "system")
    })
  )

  it.effect("creates at most 60 heartbeats per minute", () =>
    Effect.gen(function* () {
      const { heartbeats, ping } = yield* setUp
      const answers = yield* runConcurrently(times(63, (index) => ping(`job-${index}?create=1`)))
      const full = answers.filter(({ status }) => status === 429)
      assert.isAtLeast(full.length, 3)
      assert.match(full[0]?.text ?? "", /^no heartbeat was created/)
      const { body } = yield* heartbeats.list("?limit=100")
      assert.lengthOf(body.data, answers.filter(({ status }) => status === 201).length)
    })
  )

  it.effect("is unknown with another key, an old key, or the key of another workspace", () =>
    Effect.gen(function* () {
      const one = yield* setUp
      const other = yield* setUp
      yield* one.heartbeats.create({ ...minimalHeartbeat, key: "only-here" })
      assert.strictEqual((yield* one.ping("only-here")).status, 200)
      for (const rest of ["only-here", "only-here/start"]) {
        assert.deepInclude(yield* other.ping(rest), { status: 404, text: unknown })
      }
      for (const path of [
        `/ping/${"x".repeat(22)}/only-here?create=1`,
        `/ping/${one.pingKey}x/only-here`,
        `/ping/${one.pingKey}/_not-a-key?create=1`,
        `/ping/${one.pingKey}/only-here/later`
      ]) {
        assert.strictEqual((yield* ask("GET", path)).status, 404, path)
      }
      assert.strictEqual((yield* one.ping("only-here/256")).status, 400)
      const rotated = yield* one.rotate
      assert.notStrictEqual(rotated.body.ping_key, one.pingKey)
      assert.strictEqual((yield* one.ping("only-here")).status, 404)
      const renewed = `/ping/${rotated.body.ping_key}/only-here`
      assert.strictEqual((yield* ask("GET", renewed)).status, 200)
    })
  )
})

layer(twoTestNodesLayer())("the ping key of a workspace", (it) => {
  it.effect("is null until it is created, and its rotation is in the audit log", () =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* signUp()
      const path = `${workspace}/monitors/heartbeat/ping-key`
      assert.deepStrictEqual((yield* ask("GET", path, { token })).body, {
        ping_key: null,
        ping_url: null,
        created_at: null
      })
      const rotated = yield* ask("POST", `${path}/rotate`, { token })
      assert.strictEqual(rotated.headers.get("location"), path)
      assert.match(rotated.body.ping_key, /^[\w-]{22}$/)
      assert.isTrue(rotated.body.ping_url.endsWith(`/ping/${rotated.body.ping_key}`))
      assert.deepStrictEqual((yield* ask("GET", path, { token })).body, rotated.body)
      const audit = yield* ask("GET", `${workspace}/audit?action=ping_key.rotated`, { token })
      assert.lengthOf(audit.body.data, 1)
      assert.notInclude(audit.text, rotated.body.ping_key)
    })
  )
})

layer(twoTestNodesLayer())("the ping id of a new heartbeat", (it) => {
  it.effect("may be the UUID of a check that moves here, and is not shown elsewhere", () =>
    Effect.gen(function* () {
      const { heartbeats, member } = yield* setUp
      const ping_id = "7D1C3F52-93A4-4C5E-8D0B-9F1E2D3C4B5B"
      const { body: monitor } = yield* heartbeats.create({
        ...minimalHeartbeat,
        key: "moved",
        ping_id
      })
      assert.isTrue(monitor.ping_url.endsWith(`/ping/${ping_id.toLowerCase()}`))
      assert.strictEqual((yield* ask("GET", `/ping/${ping_id}`)).status, 200)
      const taken = yield* heartbeats.create({ ...minimalHeartbeat, ping_id })
      assert.strictEqual(statusAndError(taken), "422 validation_failed")
      assert.include(taken.text, "is the ping id of another monitor")
      const token = member.access_token
      const same = yield* ask("PUT", `${member.workspace}/monitors/heartbeat/by-key/moved`, {
        token,
        body: { ...minimalHeartbeat, ping_id: "7d1c3f52-93a4-4c5e-8d0b-9f1e2d3c4b5c" }
      })
      assert.strictEqual(same.body.ping_url, monitor.ping_url)
      assert.strictEqual(same.body.version, 1)
      for (const path of ["/export", "/audit", `/monitors/heartbeat/${monitor.id}/versions`]) {
        const shown = yield* ask("GET", `${member.workspace}${path}`, { token })
        assert.notInclude(shown.text.toLowerCase(), ping_id.toLowerCase(), path)
      }
    })
  )
})
