// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { completionClientOf } from "../engine/completions/jobs.ts"
import { heartbeatClientOf, ping } from "../monitoring/monitors.ts"
import { notificationClientOf } from "../notifications/support/channels.ts"
import { startHttpReceiver } from "../notifications/support/receivers.ts"
import { statusAndError, signUp } from "../support/http.ts"
import { runningConfig, startNode, TestApp } from "../support/TestApp.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const NodeLayer = Layer.effect(
  TestApp,
  Effect.map(startNode({ ...runningConfig, runner: "off" }), (url) =>
    TestApp.of({ url, otherUrl: url, logs: [] })
  )
).pipe(Layer.provideMerge(TestDatabaseLayer))

/** Repeats the question until the condition is met, for at most 30 seconds. */
const until = <A, E, R>(question: Effect.Effect<A, E, R>, holds: (answer: A) => boolean) =>
  question.pipe(
    Effect.filterOrFail(holds),
    Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 1_500 })
  )

const overdueSeconds = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly seconds: number }>`
    SELECT coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS seconds
    FROM runs`
  return row?.seconds ?? 0
})

/** Sets the heartbeat monitor's last ping to a time hours ago. */
const letItMiss = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE heartbeats
    SET last_ping_at = last_ping_at - interval '5 hours',
      expected_at = expected_at - interval '5 hours',
      alert_at = alert_at - interval '5 hours',
      check_at = check_at - interval '5 hours'
    WHERE monitor_id = ${id}`
})

layer(NodeLayer, { excludeTestServices: true })("a copy of a store under RUNNER=off", (it) => {
  it.effect("serves requests, but runs nothing, checks nothing and notifies nobody", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const jobs = completionClientOf(member)
      const heartbeats = heartbeatClientOf(member)
      const channels = notificationClientOf(member)
      const target = yield* startHttpReceiver()
      const hook = yield* startHttpReceiver()

      const { body: channel } = yield* channels.create({ config: { url: hook.url } })
      const settings = (yield* channels.settings).body
      const rules = [{ events: ["incident.opened"], channel_ids: [channel.id] }]
      const { status } = yield* channels.replace({ version: settings.version, rules })
      assert.strictEqual(status, 200)
      // A job reports its own failure, which does not require a node that checks deadlines.
      const { body: failed } = yield* heartbeats.create()
      yield* ping(failed.ping_url, "/fail")
      assert.strictEqual((yield* heartbeats.get(failed.id)).body.status, "down")
      const { body: heartbeat } = yield* heartbeats.create()
      yield* ping(heartbeat.ping_url)
      yield* letItMiss(heartbeat.id)
      const delayed = { url: target.url, delay_seconds: 0 }
      assert.strictEqual(statusAndError(yield* jobs.request("POST", "/delayed", delayed)), "201")
      const cron = { url: target.url, name: "tick", schedule: "*/5 * * * * *", precision: "second" }
      const { body: task } = yield* jobs.request("POST", "/cron", cron)
      assert.strictEqual(statusAndError(yield* jobs.request("POST", `/cron/${task.id}/run`)), "202")

      // A node with a runner would take due runs within a second.
      yield* until(overdueSeconds, (seconds) => seconds > 7)
      assert.strictEqual((yield* heartbeats.get(heartbeat.id)).body.status, "late")
      assert.deepStrictEqual([target.received, hook.received], [[], []])
      assert.deepStrictEqual((yield* channels.deliveries()).body.data, [])

      // A node with a runner does all of this.
      yield* startNode(runningConfig)
      yield* until(
        Effect.sync(() => target.received.length),
        (calls) => calls >= 3
      )
      yield* until(heartbeats.get(heartbeat.id), ({ body }) => body.status === "down")
      yield* until(
        Effect.sync(() => hook.received.length),
        (messages) => messages >= 1
      )
    })
  )
})
