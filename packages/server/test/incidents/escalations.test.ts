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
import { Maintenance } from "../../src/incidents/maintenance/Maintenance.ts"
import { SubjectsRepo } from "../../src/incidents/SubjectsRepo.ts"
import { TimelineRepo } from "../../src/incidents/TimelineRepo.ts"
import { Router } from "../../src/notifications/routing/Router.ts"
import { FollowIncidentsLayer } from "../../src/notifications/sending/followIncidents.ts"
import { alertLimits, Sender } from "../../src/notifications/sending/Sender.ts"
import { StoreClock } from "../../src/store/StoreClock.ts"
import { eventually, insertTask } from "../engine/runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { announcementData, eventsIn, runData } from "../notifications/support/events.ts"
import {
  insertChannels,
  insertWorkspaceOf,
  notifierLayer,
  SecretsLayer,
  steppedNotifierLayer
} from "../notifications/support/nodes.ts"
import { startHttpReceiver } from "../notifications/support/receivers.ts"

const noon = Date.UTC(2026, 5, 1, 12)
const minute = 60_000

const actor: Actor = { kind: "user", id: randomUUID(), name: "Ada Lovelace" }

let share = 3_000

/**
 * Creates a failing task with a policy that notifies channel `a` immediately, `b` after 5 minutes,
 * and `c` 10 minutes after `b`. Half an hour after `c`, it repeats all steps once.
 */
const setUp = Effect.fnUntraced(function* (settings: Readonly<Record<string, unknown>> = {}) {
  yield* TestClock.setTime(noon)
  const sql = yield* SqlClient.SqlClient
  const outbox = yield* Outbox
  const workspace_id = yield* insertWorkspaceOf(++share)
  const receivers = [
    yield* startHttpReceiver(),
    yield* startHttpReceiver(),
    yield* startHttpReceiver()
  ]
  const policy = randomUUID()
  const channels = yield* insertChannels(
    workspace_id,
    receivers.map(({ url }) => ({ config: { url } })),
    {
      group_seconds: 0,
      rules: [
        { events: ["execution.failed", "task.recovered"], channel_ids: [], escalation_id: policy }
      ],
      ...settings
    }
  )
  const steps = channels.map((id, index) => ({
    after_seconds: [0, 300, 600][index],
    channel_ids: [id],
    // A member who has left the workspace is not notified.
    member_ids: [randomUUID()]
  }))
  yield* sql`
    INSERT INTO escalation_policies (
      id, workspace_id, key, name, steps, repeat_count, repeat_after_seconds, created_at, updated_at
    )
    VALUES (
      ${policy}, ${workspace_id}, 'on-call', 'On call', ${JSON.stringify(steps)}::jsonb, 1, 1800,
      now(), now()
    )`
  const task = yield* insertTask(workspace_id)
  const announce = Effect.fnUntraced(function* (event: "execution.failed" | "task.recovered") {
    const status = event === "execution.failed" ? "failed" : "succeeded"
    yield* outbox.announce({
      workspace_id,
      event,
      subject_id: task,
      at: yield* DateTime.nowAsDate,
      data: { run: runData({ status }) }
    })
  })
  const messages: Array<string> = []
  /** Advances the clock in steps. After each step, does what two nodes would do. */
  const pass = Effect.fnUntraced(function* (minutes: number, stepMs = minute) {
    for (let passed = 0; passed < minutes * minute; passed += stepMs) {
      yield* TestClock.adjust(stepMs)
      yield* settle
      const at = (yield* DateTime.nowAsDate).getTime() - noon
      receivers.forEach(({ received }, index) => {
        for (const { body } of received.splice(0)) {
          for (const { data, type } of eventsIn(body)) {
            const again = data.notice?.is_reminder === true ? " again" : ""
            messages.push(`${at / minute} ${"abc"[index]} ${type}${again}`)
          }
        }
      })
    }
  })
  const incident = Effect.map(
    sql<{ readonly id: string }>`
      SELECT id
      FROM incidents
      WHERE subject_id = ${task}
      ORDER BY id DESC`,
    ([row]) => IncidentId.make(row?.id ?? "")
  )
  const access = {
    workspaceId: authorize(workspace_id),
    kinds: IncidentSubjectKind.literals,
    actor
  }
  /** Starts the outage. The policy's first step is due at minute 1. */
  const fail = Effect.andThen(announce("execution.failed"), pass(1))
  return {
    access,
    announce,
    channels,
    fail,
    incident,
    messages,
    pass,
    policy,
    sql,
    task,
    workspace_id
  }
})

/** Does what two nodes do in the background until nothing is left to do. */
const settle = Effect.gen(function* () {
  const router = yield* Router
  const sender = yield* Sender
  const { release, remind, route } = router
  for (const one of [route, release, route, release, remind, route]) {
    yield* Effect.all([one, one], { concurrency: 2 })
    while ((yield* one) === "busy");
  }
  yield* Effect.forEach(yield* sender.claim(alertLimits, []), sender.send, { concurrency: 10 })
})

const Services = Layer.mergeAll(Incidents.layer, FollowIncidentsLayer, Maintenance.layer).pipe(
  Layer.provide([TimelineRepo.layer, SubjectsRepo.layer]),
  Layer.provideMerge(IncidentSubscribers.layer),
  Layer.provideMerge(IncidentsRepo.layer),
  Layer.provideMerge(steppedNotifierLayer()),
  Layer.provide(Layer.succeed(StoreClock, () => DateTime.nowAsDate)),
  Layer.provideMerge(TestDatabaseLayer)
)

const firstRound = ["1 a execution.failed", "6 b execution.failed", "16 c execution.failed"]

layer(Services, { timeout: "60 seconds" })("An escalation policy", (it) => {
  it.effect("notifies step by step, each once, and again as often as it says", () =>
    Effect.gen(function* () {
      const { access, announce, fail, incident, messages, pass, sql } = yield* setUp()
      yield* fail
      yield* pass(120)
      assert.deepStrictEqual(messages, [
        ...firstRound,
        "46 a execution.failed again",
        "51 b execution.failed again",
        "61 c execution.failed again"
      ])
      assert.lengthOf(yield* sql`SELECT FROM escalations`, 0)
      yield* announce("task.recovered")
      yield* pass(1)
      assert.deepStrictEqual(messages.slice(6).toSorted(), [
        "122 a task.recovered",
        "122 b task.recovered",
        "122 c task.recovered"
      ])
      const { timeline } = yield* (yield* Incidents).get(access, yield* incident)
      assert.deepStrictEqual(
        timeline.flatMap(({ actor: by, message, type }) =>
          type === "escalated" ? [[message, by]] : []
        ),
        [
          ["Step 1 of 3 of “On call”", null],
          ["Step 2 of 3 of “On call”", null],
          ["Step 3 of 3 of “On call”", null],
          ["Step 1 of 3 of “On call”, round 2", null],
          ["Step 2 of 3 of “On call”, round 2", null],
          ["Step 3 of 3 of “On call”, round 2", null]
        ]
      )
    })
  )

  it.effect("stops with an acknowledgement, also of a step that is in the outbox", () =>
    Effect.gen(function* () {
      for (const isInOutbox of [false, true]) {
        const { access, announce, fail, incident, messages, pass } = yield* setUp()
        yield* fail
        if (isInOutbox) {
          yield* TestClock.adjust(5 * minute)
          yield* Effect.flatMap(Router, (router) => router.release)
        }
        yield* (yield* Incidents).acknowledge(access, yield* incident)
        yield* pass(90)
        assert.deepStrictEqual(messages, firstRound.slice(0, 1))
        yield* announce("task.recovered")
        yield* pass(1)
        assert.lengthOf(messages, 2)
      }
    })
  )

  it.effect("stops when the incident is closed by hand, and when the task recovers", () =>
    Effect.gen(function* () {
      for (const close of ["by hand", "recovery"]) {
        const { access, announce, fail, incident, messages, pass } = yield* setUp()
        yield* fail
        yield* pass(5)
        if (close === "by hand") yield* (yield* Incidents).close(access, yield* incident)
        else yield* announce("task.recovered")
        yield* pass(90)
        const ends = close === "by hand" ? [] : ["7 a task.recovered", "7 b task.recovered"]
        assert.deepStrictEqual(messages, [...firstRound.slice(0, 2), ...ends])
      }
    })
  )

  it.effect("waits for the end of a snooze, and loses no step", () =>
    Effect.gen(function* () {
      const { access, fail, incident, messages, pass } = yield* setUp()
      const incidents = yield* Incidents
      yield* fail
      const until = new Date(noon + 31 * minute).toISOString()
      yield* incidents.snooze(access, yield* incident, until)
      yield* pass(29)
      assert.deepStrictEqual(messages, firstRound.slice(0, 1))
      yield* pass(12)
      assert.deepStrictEqual(messages.slice(1), ["31 b execution.failed", "41 c execution.failed"])
    })
  )

  it.effect("waits for the end of a snooze with a step that is in the outbox", () =>
    Effect.gen(function* () {
      const { access, fail, incident, messages, pass } = yield* setUp()
      yield* fail
      yield* TestClock.adjust(5 * minute)
      yield* Effect.flatMap(Router, (router) => router.release)
      const until = new Date(noon + 31 * minute).toISOString()
      yield* (yield* Incidents).snooze(access, yield* incident, until)
      yield* pass(24)
      assert.deepStrictEqual(messages, firstRound.slice(0, 1))
      yield* pass(1)
      assert.include(messages, "31 b execution.failed")
    })
  )

  it.effect("continues immediately when a snooze is ended", () =>
    Effect.gen(function* () {
      const { access, fail, incident, messages, pass } = yield* setUp()
      const incidents = yield* Incidents
      yield* fail
      const until = new Date(noon + 600 * minute).toISOString()
      yield* incidents.snooze(access, yield* incident, until)
      yield* pass(20)
      yield* incidents.snooze(access, yield* incident, null)
      yield* pass(1)
      assert.include(messages, "22 b execution.failed")
    })
  )

  it.effect("waits for the end of maintenance", () =>
    Effect.gen(function* () {
      const { access, fail, messages, pass } = yield* setUp()
      yield* fail
      const ends_at = new Date(noon + 31 * minute).toISOString()
      yield* (yield* Maintenance).upsert(access.workspaceId, "window", {
        name: "Window",
        starts_at: new Date(noon + minute).toISOString(),
        ends_at,
        everything: true
      })
      yield* pass(29)
      assert.deepStrictEqual(messages, firstRound.slice(0, 1))
      yield* pass(11)
      assert.deepStrictEqual(messages.slice(1), ["31 b execution.failed", "41 c execution.failed"])
    })
  )

  it.effect("waits with a step in the outbox if maintenance begins, and with a first failure", () =>
    Effect.gen(function* () {
      const { access, announce, fail, messages, pass } = yield* setUp()
      const maintenance = yield* Maintenance
      const window = (from: number, to: number) =>
        maintenance.upsert(access.workspaceId, "window", {
          name: "Window",
          starts_at: new Date(noon + from * minute).toISOString(),
          ends_at: new Date(noon + to * minute).toISOString(),
          everything: true
        })
      yield* fail
      yield* TestClock.adjust(5 * minute)
      yield* Effect.flatMap(Router, (router) => router.release)
      yield* window(6, 30)
      yield* pass(23)
      assert.deepStrictEqual(messages, firstRound.slice(0, 1))
      yield* pass(1)
      assert.deepStrictEqual(messages.slice(1), ["30 b execution.failed"])
      yield* announce("task.recovered")
      yield* pass(1)
      const sent = messages.length
      yield* window(31, 60)
      yield* announce("execution.failed")
      yield* pass(28)
      assert.lengthOf(messages, sent)
      yield* pass(1)
      assert.deepStrictEqual(messages.slice(sent), ["60 a execution.failed"])
    })
  )

  it.effect("does not begin while the incident is suppressed", () =>
    Effect.gen(function* () {
      const { fail, messages, pass, sql, task, workspace_id } = yield* setUp()
      const database = yield* insertTask(workspace_id)
      yield* sql`
        INSERT INTO dependencies (workspace_id, subject_kind, subject_id, on_kind, on_id)
        VALUES (${workspace_id}, 'cron', ${task}, 'cron', ${database})`
      yield* sql`
        INSERT INTO incidents (
          id, workspace_id, subject_kind, subject_id, subject_name, opened_at, cause_code,
          cause_message
        )
        VALUES (
          ${randomUUID()}, ${workspace_id}, 'cron', ${database}, 'Database', now(), 'timeout', ''
        )`
      yield* fail
      yield* pass(60)
      assert.deepStrictEqual(messages, [])
      assert.lengthOf(yield* sql`SELECT FROM escalations WHERE subject_id = ${task}`, 0)
    })
  )

  it.effect("loses no step when a node dies, and follows late steps at their distance", () =>
    Effect.gen(function* () {
      const { fail, messages, pass, sql } = yield* setUp()
      yield* fail
      yield* TestClock.adjust(5 * minute)
      const router = yield* Router
      for (const step of [router.release, router.route, router.release, router.route]) {
        yield* Effect.ignore(sql.withTransaction(Effect.andThen(step, Effect.fail("killed"))))
      }
      yield* TestClock.adjust(60 * minute)
      yield* pass(11)
      assert.deepStrictEqual(messages, [
        "1 a execution.failed",
        "67 b execution.failed",
        "77 c execution.failed"
      ])
    })
  )

  it.effect("skips a paused channel, and applies a change to the next steps", () =>
    Effect.gen(function* () {
      const { channels, fail, messages, pass, policy, sql } = yield* setUp()
      yield* fail
      yield* sql`
        UPDATE notification_channels
        SET paused = true
        WHERE id = ${channels[1] ?? ""}`
      yield* pass(5)
      yield* sql`
        UPDATE escalation_policies
        SET steps = steps - 2
        WHERE id = ${policy}`
      yield* pass(11)
      assert.deepStrictEqual(messages, firstRound.slice(0, 1))
      assert.lengthOf(yield* sql`SELECT FROM escalations WHERE policy_id = ${policy}`, 1)
      yield* sql`DELETE FROM escalation_policies WHERE id = ${policy}`
      yield* pass(60)
      assert.deepStrictEqual(messages, firstRound.slice(0, 1))
    })
  )

  it.effect("reminds its channels once no step is left", () =>
    Effect.gen(function* () {
      const { fail, messages, pass, policy, sql } = yield* setUp({ remind_every_seconds: 480 })
      yield* sql`UPDATE escalation_policies SET repeat_count = 0 WHERE id = ${policy}`
      yield* fail
      yield* pass(16)
      assert.deepStrictEqual(messages.slice(0, 3), firstRound)
      assert.deepStrictEqual(messages.slice(3).toSorted(), [
        "17 a execution.failed again",
        "17 b execution.failed again",
        "17 c execution.failed again"
      ])
    })
  )

  it.effect("sends an event without a problem to its first step", () =>
    Effect.gen(function* () {
      const { messages, pass, workspace_id } = yield* setUp()
      const outbox = yield* Outbox
      yield* outbox.announce({
        workspace_id,
        event: "execution.failed",
        subject_id: yield* insertTask(workspace_id),
        at: yield* DateTime.nowAsDate,
        data: { run: runData({ kind: "delayed" }) }
      })
      yield* pass(60)
      assert.deepStrictEqual(messages, ["1 a execution.failed"])
    })
  )
})

layer(SecretsLayer.pipe(Layer.provideMerge(TestDatabaseLayer)), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("Two nodes that escalate", (it) => {
  it.effect("send each step once, within a second of its time", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workspace_id = yield* insertWorkspaceOf(++share)
      const receiver = yield* startHttpReceiver()
      const policy = randomUUID()
      const [channel = ""] = yield* insertChannels(
        workspace_id,
        [{ config: { url: receiver.url } }],
        {
          group_seconds: 0,
          rules: [{ events: ["incident.opened"], channel_ids: [], escalation_id: policy }]
        }
      )
      const steps = [0, 1, 2].map((after_seconds) => ({
        after_seconds,
        channel_ids: [channel],
        member_ids: []
      }))
      yield* sql`
        INSERT INTO escalation_policies (
          id, workspace_id, key, name, steps, repeat_count, repeat_after_seconds, created_at,
          updated_at
        )
        VALUES (
          ${policy}, ${workspace_id}, 'on-call', 'On call', ${JSON.stringify(steps)}::jsonb, 0, 300,
          now(), now()
        )`
      const subject_id = randomUUID()
      const at = Date.now()
      yield* (yield* Outbox).announce({
        workspace_id,
        event: "incident.opened",
        subject_id,
        at: new Date(at),
        data: announcementData("incident.opened", subject_id)
      })
      yield* eventually(
        Effect.sync(() => receiver.received.length),
        (count) => count >= 3
      )
      const late = receiver.received.map((one, index) => one.at - at - [0, 1_000, 3_000][index]!)
      assert.lengthOf(late, 3)
      for (const ms of late) {
        assert.isAtLeast(ms, 0)
        assert.isBelow(ms, 1_000)
      }
      assert.lengthOf(yield* sql`SELECT FROM escalations WHERE policy_id = ${policy}`, 0)
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.mergeAll(Layer.fresh(notifierLayer()), Layer.fresh(notifierLayer())))
    )
  )
})
