// @tags slow
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { authorize } from "../../src/accounts/access/authorize.ts"
import { MonitorEventsRepo } from "../../src/monitoring/MonitorEventsRepo.ts"
import { MonitorsRepo } from "../../src/monitoring/MonitorsRepo.ts"
import { StatusChanges } from "../../src/monitoring/StatusChanges.ts"
import { Router } from "../../src/notifications/routing/Router.ts"
import { alertLimits, Sender } from "../../src/notifications/sending/Sender.ts"
import { StoreClock } from "../../src/store/StoreClock.ts"
import { transactionOf } from "../../src/store/transactionOf.ts"
import { eventsIn } from "../notifications/support/events.ts"
import {
  insertChannels,
  insertWorkspaceOf,
  steppedNotifierLayer
} from "../notifications/support/nodes.ts"
import { startHttpReceiver } from "../notifications/support/receivers.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const noon = Date.UTC(2026, 5, 1, 12)
const size = 10_000

const Services = StatusChanges.layer.pipe(
  Layer.provide([MonitorEventsRepo.layer, MonitorsRepo.layer]),
  Layer.provideMerge(steppedNotifierLayer()),
  Layer.provide(Layer.succeed(StoreClock, () => DateTime.nowAsDate)),
  Layer.provideMerge(TestDatabaseLayer)
)

let share = 5_000

/** Creates a monitor that thousands of others depend on, every second one indirectly. */
const setUp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* TestClock.setTime(noon)
  const workspace_id = yield* insertWorkspaceOf(++share)
  const receiver = yield* startHttpReceiver(() => ({}))
  yield* insertChannels(workspace_id, [{ config: { url: receiver.url } }], { group_seconds: 0 })
  const site = randomUUID()
  const others = Array.from({ length: size }, () => randomUUID())
  yield* sql`
    INSERT INTO monitors
      (id, workspace_id, kind, name, tags, status, changed_at, created_at, updated_at)
    SELECT id, ${workspace_id}, 'heartbeat', 'Number ' || n, '{}', 'up', now(), now(), now()
    FROM unnest(${[site, ...others]}::uuid[]) WITH ORDINALITY AS given (id, n)`
  yield* sql`
    INSERT INTO dependencies (workspace_id, subject_kind, subject_id, on_kind, on_id)
    SELECT ${workspace_id}, 'heartbeat', subject_id, 'heartbeat', on_id
    FROM unnest(
      ${others}::uuid[],
      ${others.map((_, index) => (index % 2 === 0 ? site : (others[index - 1] ?? site)))}::uuid[]
    ) AS given (subject_id, on_id)`
  const changes = yield* StatusChanges
  const transaction = transactionOf(sql)
  const change = (ids: ReadonlyArray<string>, to: "down" | "up") =>
    Effect.flatMap(DateTime.nowAsDate, (now) =>
      changes.record(
        ids.map((monitor_id) => ({
          monitor_id,
          workspace_id: authorize(workspace_id),
          kind: "heartbeat" as const,
          from: to === "down" ? ("up" as const) : ("down" as const),
          to,
          at: now.getTime(),
          cause: to === "down" ? { code: "failed" as const, message: "It failed." } : null
        }))
      )
    ).pipe(transaction)
  const received = () =>
    receiver.received.map(({ body }) => {
      const events = eventsIn(body)
      const [event] = events
      const fact = event?.data.notice?.facts.find(({ name }) => name.endsWith("down"))
      return `${events.length} ${event?.type} ${fact?.name ?? ""} ${fact?.value ?? ""}`.trim()
    })
  return { change, others, received, site }
})

const settle = Effect.gen(function* () {
  const router = yield* Router
  const sender = yield* Sender
  while ((yield* router.release) === "more");
  while ((yield* router.route) === "more");
  for (;;) {
    const claimed = yield* sender.claim(alertLimits, [])
    if (claimed.length === 0) return
    yield* Effect.forEach(claimed, sender.send, { concurrency: 10 })
  }
})

layer(Services, { timeout: "120 seconds" })("thousands that depend on one", (it) => {
  it.effect("are one message, and another one when all of it is over", () =>
    Effect.gen(function* () {
      const { change, others, received, site } = yield* setUp
      yield* change([site, ...others], "down")
      yield* settle
      const [message] = received()
      assert.lengthOf(received(), 1)
      assert.match(
        message ?? "",
        /^1 incident.opened Also down (Number \d+, ){4}Number \d+ and 9,995 more$/
      )
      yield* TestClock.adjust("10 minutes")
      yield* settle
      assert.lengthOf(received(), 1)
      yield* change([site, ...others], "up")
      yield* settle
      yield* TestClock.adjust("10 minutes")
      yield* settle
      assert.deepStrictEqual(received().slice(1), ["1 incident.closed"])
    })
  )

  it.effect("are one message if the one fails seconds after them", () =>
    Effect.gen(function* () {
      const { change, others, received, site } = yield* setUp
      yield* change(others, "down")
      yield* settle
      yield* TestClock.adjust("29 seconds")
      yield* settle
      assert.deepStrictEqual(received(), [])
      yield* change([site], "down")
      yield* settle
      yield* TestClock.adjust("10 minutes")
      yield* settle
      assert.lengthOf(received(), 1)
      assert.match(received()[0] ?? "", /^1 incident.opened Also down .* and 9,995 more$/)
    })
  )

  it.effect("announce after its end only what stays down", () =>
    Effect.gen(function* () {
      const { change, others, received, site } = yield* setUp
      const [broken = "", ...healthy] = others.slice(0, 9)
      yield* change([site, broken, ...healthy], "down")
      yield* settle
      yield* change([site], "up")
      yield* settle
      yield* TestClock.adjust("1 minute")
      yield* change(healthy, "up")
      yield* settle
      assert.match(received()[1] ?? "", /^1 incident.closed Still down .* and 4 more$/)
      assert.lengthOf(received(), 2)
      yield* TestClock.adjust("31 seconds")
      yield* settle
      yield* settle
      assert.deepStrictEqual(received().slice(2), ["1 incident.opened"])
    })
  )
})
