import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { PingBodyLimits } from "../../../src/monitoring/heartbeat/PingBodyBudget.ts"
import { ask, signUp, times, runConcurrently } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import {
  setUpHeartbeats,
  heartbeatClientOf,
  minimalHeartbeat,
  ping as pingAt
} from "../monitors.ts"

const body = "x".repeat(10_000)

const ping = (url: string, signal = "") => pingAt(url, signal, { method: "POST", body })

const limited = Layer.provideMerge(
  Layer.unwrap(Effect.succeed(testAppLayer())),
  Layer.succeed(PingBodyLimits, { each: 25_000, account: 60_000 })
)

const createWorkspace = Effect.fnUntraced(function* (
  member: Effect.Success<ReturnType<typeof signUp>>
) {
  const { body: made } = yield* ask("POST", "/v1/workspaces", {
    token: member.access_token,
    body: { name: "another" }
  })
  return heartbeatClientOf({ ...member, workspace: `/v1/workspaces/${made.id}` })
})

const storedBodies = Effect.fnUntraced(function* (
  { events }: ReturnType<typeof heartbeatClientOf>,
  id: string
) {
  const { body: page } = yield* events(id)
  return page.data
    .map((event: { readonly body: string | null; readonly body_dropped: boolean }) =>
      event.body_dropped ? "dropped" : String(event.body?.length)
    )
    .toReversed()
})

layer(limited)("ping bodies", (it) => {
  it.effect.each(["", "/log"])(
    "are dropped after the budget of the workspace, while the pings still count: ping%s",
    (signal) =>
      Effect.gen(function* () {
        const { heartbeats } = yield* setUpHeartbeats
        const { body: one } = yield* heartbeats.create(minimalHeartbeat)
        const { body: other } = yield* heartbeats.create(minimalHeartbeat)
        for (const { ping_url } of [one, one, other, other, one]) {
          yield* TestClock.adjust("1 second")
          assert.strictEqual((yield* ping(ping_url, signal)).text, "OK\n")
        }
        assert.deepStrictEqual(yield* storedBodies(heartbeats, one.id), [
          "10000",
          "10000",
          "dropped"
        ])
        assert.deepStrictEqual(yield* storedBodies(heartbeats, other.id), ["10000", "dropped"])
        yield* TestClock.adjust("12 hours")
        yield* ping(one.ping_url, "/log")
        assert.strictEqual((yield* storedBodies(heartbeats, one.id)).at(-1), "10000")
      })
  )

  it.effect("have a budget per account, for all its workspaces", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const kept: Array<string> = []
      for (let workspaces = 0; workspaces < 6; workspaces++) {
        const heartbeats = yield* createWorkspace(member)
        const { body: monitor } = yield* heartbeats.create(minimalHeartbeat)
        for (let pings = 0; pings < 3; pings++) yield* ping(monitor.ping_url)
        kept.push(...(yield* storedBodies(heartbeats, monitor.id)))
      }
      // Each workspace can store one more body before the account is found to have exceeded its
      // limit.
      assert.strictEqual(kept.filter((one) => one === "10000").length, 10)
      const heartbeats = heartbeatClientOf(yield* signUp())
      const { body: monitor } = yield* heartbeats.create(minimalHeartbeat)
      yield* ping(monitor.ping_url)
      assert.deepStrictEqual(yield* storedBodies(heartbeats, monitor.id), ["10000"])
      const [row] = yield* sql<{ readonly most: number }>`
        SELECT max(octet_length(details::text)) AS most
        FROM monitor_events
        WHERE details ? 'body_dropped'`
      assert.isBelow(Number(row?.most), 200)
    })
  )

  it.effect("are limited even if they arrive simultaneously", () =>
    Effect.gen(function* () {
      const heartbeats = heartbeatClientOf(yield* signUp())
      const { body: monitor } = yield* heartbeats.create(minimalHeartbeat)
      yield* ping(monitor.ping_url)
      for (let rounds = 0; rounds < 4; rounds++) {
        yield* runConcurrently(times(10, () => ping(monitor.ping_url)))
      }
      const kept = yield* storedBodies(heartbeats, monitor.id)
      assert.isAtMost(kept.filter((one: string) => one === "10000").length, 11)
      assert.strictEqual(kept.length, 41)
    })
  )
})
