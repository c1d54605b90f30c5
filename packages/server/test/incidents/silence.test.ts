import { assert, layer } from "@effect/vitest"
import { IncidentSubjectKind } from "@scheduling/domain/incidents/Incident"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { IncidentId } from "@scheduling/domain/shared/Ids"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { authorize } from "../../src/accounts/access/authorize.ts"
import { Outbox } from "../../src/events/Outbox.ts"
import { Incidents } from "../../src/incidents/Incidents.ts"
import { IncidentsRepo } from "../../src/incidents/IncidentsRepo.ts"
import { IncidentSubscribers } from "../../src/incidents/IncidentSubscribers.ts"
import { TimelineRepo } from "../../src/incidents/TimelineRepo.ts"
import { Router } from "../../src/notifications/routing/Router.ts"
import { FollowIncidentsLayer } from "../../src/notifications/sending/followIncidents.ts"
import { DeliveriesRepo } from "../../src/notifications/sending/DeliveriesRepo.ts"
import { newDelivery } from "../../src/notifications/sending/newDelivery.ts"
import { alertLimits, Sender } from "../../src/notifications/sending/Sender.ts"
import { StoreClock } from "../../src/store/StoreClock.ts"
import { insertTask } from "../engine/runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { runData, typesIn } from "../notifications/support/events.ts"
import {
  deliveriesTo,
  insertChannels,
  insertWorkspaceOf,
  steppedNotifierLayer
} from "../notifications/support/nodes.ts"
import { startHttpReceiver, type Reply } from "../notifications/support/receivers.ts"

const noon = Date.UTC(2026, 5, 1, 12)
const hour = 3_600_000

const actor: Actor = { kind: "user", id: randomUUID(), name: "Ada Lovelace" }

let share = 2_000

/** Creates a failing task whose reminders are sent every hour. */
const setUp = Effect.fnUntraced(function* (
  settings: Readonly<Record<string, unknown>> = {},
  answer: () => Reply = () => ({})
) {
  yield* TestClock.setTime(noon)
  const workspace_id = yield* insertWorkspaceOf(++share)
  const receiver = yield* startHttpReceiver(answer)
  const [channel = ""] = yield* insertChannels(workspace_id, [{ config: { url: receiver.url } }], {
    group_seconds: 0,
    remind_every_seconds: 3_600,
    ...settings
  })
  const sql = yield* SqlClient.SqlClient
  const task = yield* insertTask(workspace_id)
  const outbox = yield* Outbox
  const announce = Effect.fnUntraced(function* (event: "execution.failed" | "task.recovered") {
    const at = yield* DateTime.nowAsDate
    const status = event === "execution.failed" ? "failed" : "succeeded"
    yield* outbox.announce({
      workspace_id,
      event,
      subject_id: task,
      at,
      data: { run: runData({ status }) }
    })
  })
  const incident = Effect.gen(function* () {
    const [row] = yield* sql<{ readonly id: string }>`
      SELECT id
      FROM incidents
      WHERE subject_id = ${task}
      ORDER BY id DESC`
    return IncidentId.make(row?.id ?? "")
  })
  const access = {
    workspaceId: authorize(workspace_id),
    kinds: IncidentSubjectKind.literals,
    actor
  }
  return {
    access,
    announce,
    channel,
    incident,
    received: () => receiver.received.flatMap(({ body }) => typesIn(body))
  }
})

const route = Effect.flatMap(Router, (router) => router.route)

const send = Effect.gen(function* () {
  const sender = yield* Sender
  const claimed = yield* sender.claim(alertLimits, [])
  yield* Effect.forEach(claimed, sender.send, { concurrency: 10 })
})

/** Advances the clock, and does everything that is due by then. */
const after = Effect.fnUntraced(function* (ms: number) {
  yield* TestClock.adjust(ms)
  yield* Effect.flatMap(Router, (router) => router.remind)
  yield* route
  yield* send
})

const Services = Layer.mergeAll(Incidents.layer, FollowIncidentsLayer).pipe(
  Layer.provide(TimelineRepo.layer),
  Layer.provideMerge(IncidentSubscribers.layer),
  Layer.provideMerge(IncidentsRepo.layer),
  Layer.provideMerge(steppedNotifierLayer()),
  Layer.provide(Layer.succeed(StoreClock, () => DateTime.nowAsDate)),
  Layer.provideMerge(TestDatabaseLayer)
)

layer(Services, { timeout: "60 seconds" })("Reminders of an incident", (it) => {
  it.effect("stop with its acknowledgement, and its end is announced", () =>
    Effect.gen(function* () {
      const { access, announce, incident, received } = yield* setUp()
      yield* announce("execution.failed")
      yield* after(0)
      yield* after(hour)
      assert.deepStrictEqual(received(), ["execution.failed", "execution.failed"])
      yield* (yield* Incidents).acknowledge(access, yield* incident)
      for (let hours = 0; hours < 5; hours++) {
        yield* announce("execution.failed")
        yield* after(hour)
      }
      assert.lengthOf(received(), 2)
      yield* announce("task.recovered")
      yield* after(0)
      assert.deepStrictEqual(received().slice(2), ["task.recovered"])
      yield* announce("execution.failed")
      yield* after(0)
      assert.lengthOf(received(), 4)
    })
  )

  it.effect("that are in the outbox are dropped by an acknowledgement", () =>
    Effect.gen(function* () {
      const { access, announce, incident, received } = yield* setUp()
      yield* announce("execution.failed")
      yield* after(0)
      yield* TestClock.adjust(hour)
      yield* Effect.flatMap(Router, (router) => router.remind)
      yield* (yield* Incidents).acknowledge(access, yield* incident)
      yield* after(0)
      assert.deepStrictEqual(received(), ["execution.failed"])
    })
  )

  it.effect("wait for the end of a snooze, which is reminded of once without an interval", () =>
    Effect.gen(function* () {
      for (const [remind_every_seconds, expected] of [
        [3_600, [1, 1, 1, 2, 3]],
        [null, [1, 1, 1, 2, 2]]
      ] as const) {
        const { access, announce, incident, received } = yield* setUp({ remind_every_seconds })
        yield* announce("execution.failed")
        yield* after(0)
        const until = new Date(noon + 3 * hour).toISOString()
        yield* (yield* Incidents).snooze(access, yield* incident, until)
        const counts = [received().length]
        for (const ms of [hour, hour, hour, hour]) {
          yield* after(ms)
          counts.push(received().length)
        }
        assert.deepStrictEqual(counts, [...expected])
      }
    })
  )

  it.effect("and first messages that are not sent yet are cancelled", () =>
    Effect.gen(function* () {
      let isUp = false
      const { access, announce, channel, incident, received } = yield* setUp({}, () =>
        isUp ? {} : { status: 503 }
      )
      yield* announce("execution.failed")
      yield* after(0)
      yield* (yield* Incidents).acknowledge(access, yield* incident)
      isUp = true
      const before = received().length
      yield* announce("task.recovered")
      yield* after(hour)
      assert.lengthOf(received(), before)
      const statuses = (yield* deliveriesTo(channel)).map(({ status }) => status)
      assert.deepStrictEqual(statuses, ["cancelled"])
    })
  )

  it.effect("leave the question to a channel's new recipient in the queue", () =>
    Effect.gen(function* () {
      const { access, announce, channel, incident } = yield* setUp({}, () => ({ status: 503 }))
      yield* announce("execution.failed")
      yield* after(0)
      const now = yield* DateTime.nowAsDate
      const question = newDelivery({
        id: randomUUID(),
        workspace_id: access.workspaceId,
        channel_id: channel,
        channel_kind: "email",
        due_at: now
      })
      yield* (yield* DeliveriesRepo).write([question], now)
      yield* (yield* Incidents).acknowledge(access, yield* incident)
      const statuses = (yield* deliveriesTo(channel)).map(({ status }) => status)
      assert.deepStrictEqual(statuses, ["cancelled", "queued"])
    })
  )
})
