import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import {
  alertTimeOf,
  decideHeartbeat,
  type HeartbeatRules,
  type HeartbeatSignal,
  newHeartbeatState
} from "../../../src/monitoring/heartbeat/decideHeartbeat.ts"
import { heartbeatState, toPingColumns } from "../../../src/monitoring/heartbeat/HeartbeatRow.ts"
import { HeartbeatsRepo } from "../../../src/monitoring/heartbeat/HeartbeatsRepo.ts"
import { makeIdAt } from "../../../src/monitoring/makeIdAt.ts"
import { testAppLayer, testNow } from "../../support/TestApp.ts"
import { setUpHeartbeat } from "../monitors.ts"

const between = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Rules = Schema.Struct({
  period_seconds: Schema.Literals([30, 3600, 86_400]),
  hasSchedule: Schema.Literals([false, false, false, true]),
  grace_seconds: between(30, 7200),
  max_duration_seconds: Schema.NullOr(between(1, 7200)),
  hasMinimum: Schema.Literals([false, false, false, true])
})

const rid = randomUUID()
const signals = {
  success: { type: "success", rid: null },
  named: { type: "success", rid },
  start: { type: "start", rid: null },
  fail: { type: "fail", rid: null, exit_status: 1 },
  pause: { type: "pause" },
  resume: { type: "resume" }
} satisfies Readonly<Record<string, HeartbeatSignal>>

/** Signals before the ping, each with the number of seconds since the previous signal. */
const Story = Schema.Array(
  Schema.Struct({
    signal: Schema.Literals([
      "success",
      "success",
      "success",
      "named",
      "start",
      "fail",
      "pause",
      "resume"
    ]),
    afterSeconds: between(0, 100)
  })
)

const toRules = ({
  hasMinimum,
  hasSchedule,
  period_seconds,
  ...rest
}: typeof Rules.Type): HeartbeatRules => ({
  ...rest,
  min_interval_seconds: hasMinimum ? 60 : null,
  timezone: "UTC",
  period_seconds: hasSchedule ? null : period_seconds,
  schedule: hasSchedule ? "*/5 * * * *" : null
})

/** All cases use the same monitor, because each case overwrites its state. */
class Subject extends Context.Service<Subject, { readonly id: string }>()(
  "@scheduling/server/test/monitors/heartbeat/Subject"
) {}

const SubjectLayer = Layer.effect(
  Subject,
  Effect.map(setUpHeartbeat(), ({ id }) => Subject.of({ id }))
).pipe(Layer.provideMerge(Layer.provideMerge(HeartbeatsRepo.layer, testAppLayer())), Layer.orDie)

layer(SubjectLayer)("writeOrdinaryPings", (it) => {
  it.effect.prop(
    "writes what decideHeartbeat would decide, and skips other pings",
    [Rules, Story, between(0, 200)],
    ([given, story, afterSeconds]) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const repo = yield* HeartbeatsRepo
        const { id } = yield* Subject
        const rules = toRules(given)
        let ms = testNow
        let changedMs = testNow
        let state = newHeartbeatState
        for (const { afterSeconds, signal } of story) {
          ms += afterSeconds * 1000
          const decision = decideHeartbeat(rules, state, signals[signal], ms)
          changedMs = decision.changes.at(-1)?.at ?? changedMs
          state = decision.state
        }
        yield* sql`
          DELETE FROM monitor_events
          WHERE monitor_id = ${id}`
        yield* sql`
          UPDATE monitors
          SET status = ${state.status}, changed_at = ${new Date(changedMs)}
          WHERE id = ${id}`
        const [found] = yield* sql<{ readonly workspace_id: never; readonly ping_hash: string }>`
          SELECT m.workspace_id, ping_hash
          FROM ping_urls
          JOIN monitors AS m ON m.id = monitor_id
          WHERE m.id = ${id}`
        assert.isDefined(found)
        const read = Effect.map(repo.findForUpdate(found.workspace_id, id), Option.getOrThrow)
        const known = toPingColumns(rules, state)
        yield* repo.update(yield* read, { ...rules, ...known, check_at: known.alert_at })

        const before = yield* read
        const at = ms + afterSeconds * 1000
        const event = { id: makeIdAt(at, 0), details: { method: "GET" } }
        const ping = { ping_hash: found.ping_hash, at: new Date(at), event }
        const updated = yield* repo.updateByOrdinaryPings([ping], [])
        const after = yield* read

        const decision = decideHeartbeat(rules, state, signals.success, at)
        const due = alertTimeOf(rules, state)
        const isOrdinary =
          state.status === "up" &&
          state.runs.length === 0 &&
          rules.period_seconds !== null &&
          rules.min_interval_seconds === null &&
          due !== null &&
          at <= due
        assert.strictEqual(updated.has(found.ping_hash), isOrdinary)
        const events = yield* sql`
          SELECT id, type, status, at, details
          FROM monitor_events
          WHERE monitor_id = ${id}`
        if (!isOrdinary) {
          assert.deepStrictEqual(after, before)
          assert.deepStrictEqual(events, [])
          return
        }
        assert.deepStrictEqual(decision.changes, [])
        assert.deepStrictEqual(heartbeatState(after), decision.state)
        assert.strictEqual(after.alert_at?.getTime(), alertTimeOf(rules, decision.state))
        assert.strictEqual(after.row_version, before.row_version + 1)
        assert.deepStrictEqual(events, [
          { ...event, type: "success", status: "up", at: new Date(at) }
        ])
      })
  )
})
