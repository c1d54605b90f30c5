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
import { IncidentSubscribers } from "../../src/incidents/IncidentSubscribers.ts"
import { Maintenance } from "../../src/incidents/maintenance/Maintenance.ts"
import { TimelineRepo } from "../../src/incidents/TimelineRepo.ts"
import { MonitorEventsRepo } from "../../src/monitoring/MonitorEventsRepo.ts"
import { MonitorsRepo } from "../../src/monitoring/MonitorsRepo.ts"
import { StatusChanges } from "../../src/monitoring/StatusChanges.ts"
import { WithheldIncidents } from "../../src/monitoring/WithheldIncidents.ts"
import { Router } from "../../src/notifications/routing/Router.ts"
import { FollowIncidentsLayer } from "../../src/notifications/sending/followIncidents.ts"
import { alerts, Sender } from "../../src/notifications/sending/Sender.ts"
import { StoreClock } from "../../src/store/StoreClock.ts"
import { transactionOf } from "../../src/store/transactionOf.ts"
import { insertTask } from "../engine/runner/support/tasks.ts"
import { eventsIn, runData } from "../notifications/support/events.ts"
import { insertChannels, insertWorkspaceOf, stepsLayer } from "../notifications/support/nodes.ts"
import { httpReceiver } from "../notifications/support/receivers.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import {
  type Action,
  makeModel,
  type Model,
  randomActions,
  remindMs,
  type Subject,
  threshold
} from "./support/incidentModel.ts"

const noon = Date.UTC(2026, 5, 1, 12)
const actor: Actor = { kind: "user", id: randomUUID(), name: "Ada Lovelace" }

const Services = Layer.mergeAll(
  Incidents.layer,
  Maintenance.layer,
  FollowIncidentsLayer,
  StatusChanges.layer,
  WithheldIncidents.layer
).pipe(
  Layer.provide([TimelineRepo.layer, MonitorEventsRepo.layer, MonitorsRepo.layer]),
  Layer.provide(IncidentSubscribers.layer),
  Layer.provideMerge(stepsLayer()),
  Layer.provide(Layer.succeed(StoreClock, () => DateTime.nowAsDate)),
  Layer.provideMerge(TestDatabaseLayer)
)

let share = 3_000

/** Messages about different subjects may change places. */
const bySubject = (messages: ReadonlyArray<string>) =>
  Map.groupBy(messages, (message) => message.split(":")[0])

/** A workspace with a monitor and a task, on which the actions of the model are carried out. */
const begin = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* TestClock.setTime(noon)
  const workspace_id = yield* insertWorkspaceOf(++share)
  const receiver = yield* httpReceiver(() => ({}))
  yield* insertChannels(workspace_id, [{ config: { url: receiver.url } }], {
    group_seconds: 0,
    remind_every_seconds: remindMs / 1_000,
    task_failure_threshold: threshold
  })
  const ids: Record<Subject, string> = {
    monitor: randomUUID(),
    task: yield* insertTask(workspace_id)
  }
  yield* sql`
    INSERT INTO monitors
      (id, workspace_id, kind, name, tags, status, changed_at, created_at, updated_at)
    VALUES (${ids.monitor}, ${workspace_id}, 'heartbeat', 'db', '{db}', 'new', now(), now(), now())`
  const nameOf = (id: string): Subject => (id === ids.monitor ? "monitor" : "task")
  const messages = (): ReadonlyArray<string> =>
    receiver.received.flatMap(({ body }) =>
      eventsIn(body).map(({ data, type }) => {
        const id =
          "incident" in data
            ? data.incident.subject.id
            : "task" in data
              ? data.task.id
              : "execution" in data
                ? data.execution.task_id
                : ""
        const again = data.notice?.is_reminder === true ? " again" : ""
        return `${nameOf(id)}: ${type}${again}`
      })
    )
  const incidents = Effect.map(
    sql<{
      readonly subject_id: string
      readonly opened_at: Date
      readonly closed_at: Date | null
      readonly acknowledged_at: Date | null
    }>`
      SELECT subject_id, opened_at, closed_at, acknowledged_at
      FROM incidents
      WHERE workspace_id = ${workspace_id}
      ORDER BY opened_at, subject_id`,
    (rows) =>
      rows.map(({ acknowledged_at, closed_at, opened_at, subject_id }) =>
        [
          nameOf(subject_id),
          opened_at.getTime() - noon,
          closed_at === null ? "open" : closed_at.getTime() - noon,
          acknowledged_at === null ? "" : "acknowledged"
        ].join(" ")
      )
  )
  return { ids, incidents, messages, workspaceId: authorize(workspace_id) }
})

type Scene = Effect.Success<typeof begin>

/** Carries out one action, as the API, the engine or a check would. */
const act = Effect.fnUntraced(function* (scene: Scene, model: Model, action: Action) {
  const { ids, workspaceId: workspace_id } = scene
  const sql = yield* SqlClient.SqlClient
  const transaction = transactionOf(sql)
  const outbox = yield* Outbox
  const statusChanges = yield* StatusChanges
  const incidents = yield* Incidents
  const at = (yield* DateTime.nowAsDate).getTime()
  const openIncident = (subject: Subject) =>
    Effect.map(
      sql<{ readonly id: string }>`
        SELECT id
        FROM incidents
        WHERE subject_id = ${ids[subject]}
          AND closed_at IS NULL`,
      ([row]) => IncidentId.make(row?.id ?? "")
    )
  const access = { workspaceId: workspace_id, kinds: IncidentSubjectKind.literals, actor }
  const change = (to: "down" | "new" | "paused" | "up") =>
    statusChanges
      .record([
        {
          monitor_id: ids.monitor,
          workspace_id,
          kind: "heartbeat",
          from: model.monitorStatus(),
          to,
          at,
          cause: to === "down" ? { code: "failed", message: "It failed." } : null
        }
      ])
      .pipe(transaction)
  switch (action.type) {
    case "status":
      return yield* change(action.to)
    case "run":
      return yield* outbox.announce({
        workspace_id,
        event: action.fails ? "execution.failed" : "task.recovered",
        subject_id: ids.task,
        tags: ["db"],
        at: new Date(at),
        data: { run: runData({ status: action.fails ? "failed" : "succeeded" }) }
      })
    case "acknowledge":
      return yield* incidents.acknowledge(access, yield* openIncident(action.subject))
    case "snooze": {
      const until = new Date(at + action.ms).toISOString()
      return yield* incidents.snooze(access, yield* openIncident(action.subject), until)
    }
    case "close":
      return yield* incidents.close(access, yield* openIncident(action.subject))
    case "begin":
      return yield* (yield* Maintenance).upsert(workspace_id, "window", {
        name: "Window",
        starts_at: new Date(at).toISOString(),
        ends_at: new Date(at + action.ms).toISOString(),
        ...(action.tagged ? { tags: ["db"] } : { everything: true })
      })
    case "end":
      return yield* (yield* Maintenance).remove(workspace_id, "window")
    case "wait":
      return yield* TestClock.adjust(action.ms)
  }
})

/** Does what two nodes do in the background, until nothing is left to do. */
const settle = Effect.fnUntraced(function* (isKilled: boolean) {
  const sql = yield* SqlClient.SqlClient
  const router = yield* Router
  const withheld = yield* WithheldIncidents
  const sender = yield* Sender
  const steps: ReadonlyArray<Effect.Effect<unknown>> = [
    withheld.release,
    router.release,
    router.remind,
    router.route
  ]
  // A node that dies before its commit has changed nothing.
  if (isKilled) {
    for (const step of steps) {
      yield* Effect.ignore(sql.withTransaction(Effect.andThen(step, Effect.fail("killed"))))
    }
  }
  for (const step of steps) {
    yield* Effect.all([step, step], { concurrency: 2 })
    while ((yield* step) === "busy");
  }
  for (;;) {
    const claimed = yield* sender.claim(alerts, [])
    if (claimed.length === 0) return
    yield* Effect.forEach(claimed, sender.send, { concurrency: 10 })
  }
})

layer(Services, { timeout: "120 seconds" })("Incidents and their messages", (it) => {
  it.effect.each(Array.from({ length: 24 }, (_, seed) => seed + 1))(
    "are those of a plain model, with the seed %i",
    (seed) =>
      Effect.gen(function* () {
        const scene = yield* begin
        const model = makeModel(noon)
        const done: Array<string> = []
        for (const { action, isKilled } of randomActions(seed, 30, model)) {
          done.push(JSON.stringify(action))
          yield* act(scene, model, action)
          model.apply(action)
          yield* settle(isKilled)
          model.settle()
          const context = `seed ${seed}: ${done.join(" ")}`
          assert.deepStrictEqual(bySubject(scene.messages()), bySubject(model.messages), context)
          const incidents = yield* scene.incidents
          assert.deepStrictEqual(incidents.toSorted(), model.incidents().toSorted(), context)
        }
      })
  )
})
