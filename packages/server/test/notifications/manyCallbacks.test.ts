import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Router } from "../../src/notifications/routing/Router.ts"
import { callbackLimits } from "../../src/notifications/sending/Sender.ts"
import { Outbox } from "../../src/events/Outbox.ts"
import { selfHostedPlan } from "../../src/core/config/plans.ts"
import { eventually } from "../engine/runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import {
  insertChannels,
  insertWorkspaceOf,
  notifierLayer,
  SecretsLayer,
  steppedNotifierLayer
} from "./support/nodes.ts"
import { startHttpReceiver } from "./support/receivers.ts"
import { announcementData, runData } from "./support/events.ts"

let share = 5_000
const newWorkspace = Effect.suspend(() => insertWorkspaceOf(++share))

/** Inserts events as settling runs would. */
const end = Effect.fnUntraced(function* (workspaceId: string, url: string, count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO outbox (workspace_id, event, subject_id, at, data, callback_url)
    SELECT
      ${workspaceId}, 'execution.succeeded', ${randomUUID()}, now(),
      ${JSON.stringify({ name: "often", run: runData({ status: "succeeded", error: null }) })}::jsonb,
      ${url}
    FROM generate_series(1, ${count}::int)`
})

const routeAll = Effect.gen(function* () {
  const router = yield* Router
  while ((yield* router.route) === "more");
})

const countsOf = Effect.fnUntraced(function* (workspaceId: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ readonly status: string; readonly rows: number; readonly events: number }>`
    SELECT status, count(*)::int AS rows, sum(begun + ended + other)::int AS events
    FROM notification_deliveries
    WHERE workspace_id = ${workspaceId}
    GROUP BY status
    ORDER BY status`
})

const most = selfHostedPlan.limits.waiting_callbacks

layer(SecretsLayer.pipe(Layer.provideMerge(TestDatabaseLayer)), {
  excludeTestServices: true,
  timeout: "120 seconds"
})("Many callbacks", (it) => {
  it.effect("wait up to the limit of the plan, and one record counts the dropped ones", () =>
    Effect.gen(function* () {
      const workspace = yield* newWorkspace
      const other = yield* newWorkspace
      yield* end(workspace, "http://127.0.0.1:9/", most + 1_500)
      yield* end(other, "http://127.0.0.1:9/", 1)
      yield* routeAll
      yield* end(workspace, "http://127.0.0.1:9/", 100)
      yield* routeAll
      assert.deepStrictEqual(yield* countsOf(workspace), [
        { status: "dropped", rows: 1, events: 1_600 },
        { status: "queued", rows: most, events: most }
      ])
      assert.deepStrictEqual(yield* countsOf(other), [{ status: "queued", rows: 1, events: 1 }])
      const sql = yield* SqlClient.SqlClient
      assert.lengthOf(yield* sql`SELECT FROM outbox`, 0)
      yield* sql`DELETE FROM notification_deliveries`
    }).pipe(Effect.provide(steppedNotifierLayer()))
  )

  it.effect(
    "delay neither alerts nor callbacks of other accounts, even if their recipient hangs",
    () =>
      Effect.gen(function* () {
        const noisy = yield* newWorkspace
        const quiet = yield* newWorkspace
        const hanging = yield* startHttpReceiver(() => ({ hangs: true }))
        const alerts = yield* startHttpReceiver()
        const hook = yield* startHttpReceiver()
        yield* insertChannels(noisy, [{ config: { url: alerts.url } }], { group_seconds: 0 })
        yield* end(noisy, hanging.url, 3_000)
        const reached = (at: { readonly received: ReadonlyArray<unknown> }, count: number) =>
          eventually(
            Effect.sync(() => at.received.length),
            (length) => length >= count,
            400
          )
        yield* reached(hanging, callbackLimits.maxPerTarget)
        const began = Date.now()
        yield* end(quiet, `${hook.url}/quiet`, 1)
        yield* end(noisy, `${hook.url}/noisy`, 1)
        const outbox = yield* Outbox
        const subject_id = randomUUID()
        yield* outbox.announce({
          workspace_id: noisy,
          event: "incident.opened",
          subject_id,
          at: new Date(),
          data: announcementData("incident.opened", subject_id)
        })
        yield* reached(alerts, 1)
        yield* reached(hook, 1)
        assert.isBelow(Date.now() - began, 8_000)
        assert.strictEqual(hook.received[0]?.url, "/quiet")
        assert.isAtMost(hanging.received.length, callbackLimits.maxPerShare)
      }).pipe(Effect.scoped, Effect.provide(notifierLayer()))
  )
})
