// @tags slow long
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Outbox } from "../../src/events/Outbox.ts"
import { transactionOf } from "../../src/store/transactionOf.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { eventually } from "../engine/runner/support/tasks.ts"
import {
  deliveriesTo,
  insertChannels,
  insertWorkspaceOf,
  notifierLayer,
  SecretsLayer
} from "./support/nodes.ts"
import { startHttpReceiver } from "./support/receivers.ts"
import { announcementData, countIn, eventsIn, titleIn, typesIn } from "./support/events.ts"

const happens = Effect.fnUntraced(function* (
  workspace_id: string,
  event: "incident.opened" | "incident.closed",
  subjects: ReadonlyArray<string>
) {
  const outbox = yield* Outbox
  const at = new Date()
  yield* outbox.announce(
    ...subjects.map((subject_id) => ({
      workspace_id,
      event,
      subject_id,
      at,
      data: announcementData(event, subject_id, `monitor ${subject_id}`)
    }))
  )
  return at.getTime()
})

const percentile = (values: ReadonlyArray<number>, share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Infinity

const many = (count: number) => Array.from({ length: count }, () => randomUUID())

const waitFor = (condition: () => boolean, withinMs = 30_000) =>
  eventually(Effect.sync(condition), (holds) => holds, withinMs / 20)

let share = 0
const newWorkspace = Effect.suspend(() => insertWorkspaceOf(++share))

layer(SecretsLayer.pipe(Layer.provideMerge(TestDatabaseLayer)), {
  excludeTestServices: true,
  timeout: "180 seconds"
})("The notifier", (it) => {
  it.effect("notifies immediately when it is idle", () =>
    Effect.gen(function* () {
      const workspace = yield* newWorkspace
      const receiver = yield* startHttpReceiver()
      yield* insertChannels(workspace, [{ config: { url: receiver.url } }], { group_seconds: 0 })
      const waited: Array<number> = []
      for (let round = 0; round < 20; round++) {
        const at = yield* happens(workspace, "incident.opened", [randomUUID()])
        yield* waitFor(() => receiver.received.length > round)
        waited.push((receiver.received[round]?.at ?? Infinity) - at)
      }
      assert.isBelow(percentile(waited, 0.5), 1_000)
    }).pipe(Effect.scoped, Effect.provide(notifierLayer()))
  )

  it.effect("sends a storm of 10,000 events, and its end, in a few messages", () =>
    Effect.gen(function* () {
      const workspace = yield* newWorkspace
      const receiver = yield* startHttpReceiver()
      yield* insertChannels(workspace, [{ config: { url: receiver.url } }], { group_seconds: 4 })
      const subjects = many(10_000)
      const happenedAt: Array<number> = []
      const counted = () => receiver.received.reduce((sum, { body }) => sum + countIn(body), 0)

      for (let from = 0; from < subjects.length; from += 250) {
        const at = yield* happens(workspace, "incident.opened", subjects.slice(from, from + 250))
        for (let n = 0; n < 250; n++) happenedAt.push(at)
      }
      yield* waitFor(() => counted() === 10_000, 60_000)
      assert.isBelow(receiver.received.length, 8)
      assert.match(titleIn(receiver.received.at(-1)?.body), /^[\d,]+ failing$/)
      assert.lengthOf(eventsIn(receiver.received.at(-1)?.body), 10)
      const waited = receiver.received.flatMap(({ at, body }, index) => {
        const before = receiver.received
          .slice(0, index)
          .reduce((sum, one) => sum + countIn(one.body), 0)
        return happenedAt.slice(before, before + countIn(body)).map((happened) => at - happened)
      })
      assert.lengthOf(waited, 10_000)
      // The first batching windows take 0.4 + 0.8 + 1.6 + 3.2 s, and routing takes longer on a slow
      // machine.
      assert.isBelow(percentile(waited, 0.95), 12_000)

      const downs = receiver.received.length
      yield* happens(workspace, "incident.closed", subjects)
      yield* waitFor(() => counted() === 20_000, 60_000)
      assert.isBelow(receiver.received.length - downs, 8)
      assert.match(titleIn(receiver.received.at(-1)?.body), /recovered$/)
    }).pipe(Effect.scoped, Effect.provide(notifierLayer()))
  )

  it.effect("opens few incidents in a storm, and closes all of them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workspace = yield* newWorkspace
      const [channel = ""] = yield* insertChannels(workspace, [
        { kind: "pagerduty", config: { routing_key: "aB3".repeat(11).slice(0, 32) } }
      ])
      // Deliveries to this channel are delayed, so that the test can read them.
      yield* sql`UPDATE notification_channels SET held_until = now() + interval '1 hour' WHERE id = ${channel}`
      const subjects = many(1_000)
      yield* happens(workspace, "incident.opened", subjects)
      const opened = yield* eventually(deliveriesTo(channel), (rows) => rows.length > 0)
      assert.lengthOf(opened, 21)
      assert.strictEqual(
        opened.reduce((sum, { events }) => sum + events, 0),
        1_000
      )
      yield* happens(workspace, "incident.closed", subjects)
      const all = yield* eventually(deliveriesTo(channel), (rows) => rows.length > 21)
      // One message for each event that was sent separately, and one for all others.
      assert.lengthOf(all, 42)
    }).pipe(Effect.scoped, Effect.provide(notifierLayer()))
  )

  it.effect("shares the work between two nodes and sends nothing twice", () =>
    Effect.gen(function* () {
      const receiver = yield* startHttpReceiver()
      const workspaces = yield* Effect.replicateEffect(newWorkspace, 40)
      for (const workspace of workspaces) {
        yield* insertChannels(workspace, [{ config: { url: `${receiver.url}/${workspace}` } }], {
          group_seconds: 1
        })
      }
      const subjects = new Map(workspaces.map((workspace) => [workspace, randomUUID()]))
      for (const event of [
        "incident.opened",
        "incident.closed",
        "incident.opened",
        "incident.closed"
      ] as const) {
        for (const [workspace, subject] of subjects) yield* happens(workspace, event, [subject])
        yield* Effect.sleep("150 millis")
      }
      const told = () => receiver.received.reduce((sum, { body }) => sum + countIn(body), 0)
      yield* waitFor(() => told() >= 160)
      yield* Effect.sleep("500 millis")
      const ids = receiver.received.map(({ headers }) => headers["idempotency-key"])
      assert.strictEqual(new Set(ids).size, ids.length)
      for (const workspace of workspaces) {
        const events = receiver.received
          .filter(({ url }) => url === `/${workspace}`)
          .flatMap(({ body }) => typesIn(body))
        assert.deepStrictEqual(events, [
          "incident.opened",
          "incident.closed",
          "incident.opened",
          "incident.closed"
        ])
      }
    }).pipe(Effect.provide(notifierLayer()), Effect.provide(notifierLayer()))
  )

  it.effect("delays no channel because another one hangs or fails", () =>
    Effect.gen(function* () {
      const workspace = yield* newWorkspace
      const hanging = yield* startHttpReceiver(() => ({ hangs: true }))
      const failing = yield* startHttpReceiver(() => ({ status: 500 }))
      const well = yield* startHttpReceiver()
      const [, second = ""] = yield* insertChannels(
        workspace,
        [hanging, failing, well].map(({ url }) => ({ config: { url } })),
        { group_seconds: 0 }
      )
      for (let round = 1; round <= 10; round++) {
        const at = yield* happens(workspace, "incident.opened", [randomUUID()])
        yield* waitFor(() => well.received.length === round)
        assert.isBelow((well.received.at(-1)?.at ?? Infinity) - at, 8_000)
      }
      assert.isBelow(hanging.received.length, 3)
      assert.isBelow(failing.received.length, 6)
      const rows = yield* deliveriesTo(second)
      assert.isTrue(rows.some(({ error }) => error === "responded with 500"))
    }).pipe(Effect.scoped, Effect.provide(notifierLayer()))
  )

  it.effect("delays no tenant because another one has 10,000 dead channels", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const dead = yield* startHttpReceiver(() => ({ hangs: true }))
      const noisy = yield* newWorkspace
      const [channel = ""] = yield* insertChannels(noisy, [{ config: { url: dead.url } }])
      yield* sql`
        INSERT INTO notification_channels (
          id, workspace_id, name, kind, config, sealed_secrets, created_at, updated_at
        )
        SELECT gen_random_uuid(), workspace_id, name, kind, config, sealed_secrets, now(), now()
        FROM notification_channels
        CROSS JOIN generate_series(1, 10000)
        WHERE id = ${channel}`
      yield* sql`
        INSERT INTO notification_deliveries (
          id, workspace_id, channel_id, channel_kind, status, begun, ended, other, shown, subjects,
          mergeable, due_at, next_at, give_up_at, created_at
        )
        SELECT
          gen_random_uuid(), workspace_id, id, kind, 'queued', 1, 0, 0, '[]', '{}',
          false, now(), now(), now() + interval '1 day', now()
        FROM notification_channels
        WHERE workspace_id = ${noisy}`
      const workspace = yield* newWorkspace
      const well = yield* startHttpReceiver()
      yield* insertChannels(workspace, [{ config: { url: well.url } }], { group_seconds: 0 })
      yield* Effect.gen(function* () {
        yield* Effect.sleep("1 second")
        for (let round = 1; round <= 10; round++) {
          const at = yield* happens(workspace, "incident.opened", [randomUUID()])
          yield* waitFor(() => well.received.length === round)
          assert.isBelow((well.received.at(-1)?.at ?? Infinity) - at, 8_000)
        }
        // The deletion can lock the workspace's channels in a different order from the notifier.
        yield* transactionOf(sql)(sql`DELETE FROM workspaces WHERE id = ${noisy}`)
      }).pipe(Effect.scoped, Effect.provide(notifierLayer()))
    })
  )
})
