import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type Answer, ask, statusAndError, times, runConcurrently } from "../../support/http.ts"
import { unknownId } from "../../support/routes.ts"
import { twoTestNodesLayer } from "../../support/TestApp.ts"
import { collide } from "../../support/collide.ts"
import { setUpHeartbeat } from "../monitors.ts"

const rid = "0b9f3c5a-1b1e-4c4a-9d2f-3e8b7a6c5d40"

const summary = (events: Answer) =>
  events.body.data.map(
    ({ exit_status, status, type }: Record<string, unknown>) => `${type} ${exit_status} ${status}`
  )

layer(twoTestNodesLayer())("a ping", (it) => {
  it.effect("gets OK in plain text, uncached and readable across origins", () =>
    Effect.gen(function* () {
      const { get, ping } = yield* setUpHeartbeat()
      for (const method of ["GET", "POST", "HEAD"]) {
        const answer = yield* ping("", { method, headers: { origin: "https://page.example" } })
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.text, method === "HEAD" ? "" : "OK\n")
        assert.match(answer.headers.get("content-type") ?? "", /^text\/plain/)
        assert.strictEqual(answer.headers.get("cache-control"), "no-store")
        assert.strictEqual(answer.headers.get("ping-body-limit"), "10000")
        assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
        assert.isString(answer.headers.get("x-request-id"))
      }
      assert.deepInclude(yield* get, {
        status: "up",
        last_ping_at: "2026-06-01T12:00:00.000Z",
        expected_at: "2026-06-01T13:00:00.000Z",
        alert_at: "2026-06-01T13:05:00.000Z",
        next_check_at: "2026-06-01T13:05:00.000Z",
        open_incident_id: null
      })
    })
  )

  it.effect("accepts the paths that wrappers of cron jobs use", () =>
    Effect.gen(function* () {
      const { get, heartbeats, id, ping } = yield* setUpHeartbeat()
      for (const [signal, status] of [
        ["/start", "new"],
        ["/0", "up"],
        ["/log", "up"],
        ["/fail", "down"],
        ["/137", "down"],
        ["/255", "down"],
        [`/0?rid=${rid}`, "up"],
        [`?rid=${rid.toUpperCase()}&create=1`, "up"]
      ] as const) {
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* ping(signal)).text, "OK\n", signal)
        assert.strictEqual((yield* get).status, status, signal)
      }
      assert.deepStrictEqual(summary(yield* heartbeats.events(id)), [
        "success null up",
        "success 0 up",
        "fail 255 down",
        "fail 137 down",
        "fail null down",
        "log null up",
        "success 0 up",
        "start null new"
      ])
    })
  )

  it.effect("with an invalid path or query is rejected", () =>
    Effect.gen(function* () {
      const { heartbeats, id, ping } = yield* setUpHeartbeat()
      for (const [signal, status, text] of [
        ["/256", 400, "rid must be a UUID, and the exit status a number from 0 to 255\n"],
        ["/00", 400, "rid must be a UUID, and the exit status a number from 0 to 255\n"],
        ["/99999999999", 400, "rid must be a UUID, and the exit status a number from 0 to 255\n"],
        ["?rid=1", 400, "rid must be a UUID, and the exit status a number from 0 to 255\n"],
        ["/start?rid=", 400, "rid must be a UUID, and the exit status a number from 0 to 255\n"],
        ["/stop", 404, "this ping URL does not exist\n"],
        ["/-1", 404, "this ping URL does not exist\n"],
        ["/Start", 404, "this ping URL does not exist\n"]
      ] as const) {
        const answer = yield* ping(signal)
        assert.deepStrictEqual([answer.status, answer.text], [status, text], signal)
      }
      for (const path of [unknownId, "x", "x/start", `${unknownId}/`, `${unknownId}/0/0`, ""]) {
        const answer = yield* ask("GET", `/ping/${path}`)
        assert.strictEqual(answer.status, 404, path)
      }
      assert.deepStrictEqual((yield* heartbeats.events(id)).body.data, [])
    })
  )

  it.effect("accepts only GET, HEAD and POST, and responds to CORS preflights", () =>
    Effect.gen(function* () {
      const { ping } = yield* setUpHeartbeat()
      for (const method of ["PUT", "DELETE", "PATCH"]) {
        const answer = yield* ping("", { method })
        assert.strictEqual(statusAndError(answer), "405 method_not_allowed")
        assert.strictEqual(answer.headers.get("allow"), "GET, HEAD, POST")
      }
      assert.strictEqual((yield* ping("/start", { method: "OPTIONS" })).status, 204)
    })
  )

  it.effect("is stored with its sender and the first 10000 bytes of its body", () =>
    Effect.gen(function* () {
      const { heartbeats, id, ping } = yield* setUpHeartbeat()
      const long = `${"é".repeat(4_999)}ab${"x".repeat(2_000_000)}`
      for (const body of ["wrote 41 GB", "a\0b", long]) {
        yield* TestClock.adjust("1 second")
        const answer = yield* ping(`/3?rid=${rid}`, {
          method: "POST",
          body,
          headers: {
            "content-type": "application/octet-stream",
            "user-agent": `job/${"9".repeat(300)}`,
            "x-forwarded-for": "203.0.113.7"
          }
        })
        assert.strictEqual(answer.status, 200)
      }
      const { body } = yield* heartbeats.events(id)
      assert.deepStrictEqual(
        body.data.map((event: { readonly body: string }) => event.body),
        [`${"é".repeat(4_999)}ab`, "a\ufffdb", "wrote 41 GB"]
      )
      assert.deepInclude(body.data[0], {
        type: "fail",
        rid,
        exit_status: 3,
        method: "POST",
        ip: "203.0.113.7",
        user_agent: `job/${"9".repeat(196)}`,
        status: "down",
        at: "2026-06-01T12:00:03.000Z"
      })
    })
  )

  it.effect("measures runs, also overlapping ones", () =>
    Effect.gen(function* () {
      const { get, heartbeats, id, ping } = yield* setUpHeartbeat()
      const other = rid.replace(/0$/, "1")
      yield* ping(`/start?rid=${rid}`)
      yield* TestClock.adjust("10 seconds")
      yield* ping(`/start?rid=${other}`)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* get).running_since, "2026-06-01T12:00:00.000Z")
      yield* ping(`?rid=${rid}`)
      assert.deepInclude(yield* get, {
        last_duration_ms: 20_000,
        running_since: "2026-06-01T12:00:10.000Z"
      })
      yield* TestClock.adjust("10 seconds")
      yield* ping(`/0?rid=${other}`)
      assert.deepInclude(yield* get, { last_duration_ms: 20_000, running_since: null })
      const { body } = yield* heartbeats.events(id)
      assert.deepStrictEqual(
        body.data.map((event: { readonly duration_ms: number }) => event.duration_ms),
        [20_000, 20_000, null, null]
      )
    })
  )

  it.effect("is not lost among hundreds of others", () =>
    Effect.gen(function* () {
      const { get, heartbeats, id, ping } = yield* setUpHeartbeat()
      const answers = yield* runConcurrently(
        times(150, (index) =>
          ping(index % 2 ? "/start" : "", { at: index % 3 ? "url" : "otherUrl" })
        )
      )
      assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
      assert.strictEqual((yield* get).status, "up")
      // Each node records at most 60 pings per minute as events.
      const { body } = yield* heartbeats.events(id, "?limit=100")
      assert.isAtLeast(body.data.length, 60)
      const more = yield* heartbeats.events(id, `?limit=100&cursor=${body.next_cursor}`)
      assert.isAtMost(body.data.length + (more.body.data?.length ?? 0), 120)
    })
  )

  it.effect("waits while its monitor is locked by another change", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get, heartbeats, id, ping } = yield* setUpHeartbeat()
      const lock = sql`SELECT FROM heartbeats WHERE monitor_id = ${id} FOR UPDATE`
      const [pinged, paused] = yield* collide<Answer, never, never>(lock, [
        ping("/fail") as Effect.Effect<Answer>,
        heartbeats.act(id, "pause") as Effect.Effect<Answer>
      ])
      assert.strictEqual(pinged?.status, 200)
      assert.strictEqual(paused?.status, 200)
      assert.strictEqual((yield* get).status, "paused")
      const { body } = yield* heartbeats.incidents()
      assert.strictEqual(
        body.data.filter((one: { closed_at: unknown }) => one.closed_at === null).length,
        0
      )
    })
  )
})
