import { assert, layer } from "@effect/vitest"
import type { Dependency } from "@scheduling/domain/incidents/Dependency"
import { IncidentSubjectKind } from "@scheduling/domain/incidents/Incident"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { IncidentId } from "@scheduling/domain/shared/Ids"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { authorize } from "../../src/accounts/access/authorize.ts"
import { Outbox } from "../../src/events/Outbox.ts"
import { Incidents } from "../../src/incidents/Incidents.ts"
import { makeDependencies } from "../../src/incidents/dependencies/dependencies.ts"
import { Maintenance } from "../../src/incidents/maintenance/Maintenance.ts"
import { StatusChanges } from "../../src/monitoring/StatusChanges.ts"
import { transactionOf } from "../../src/store/transactionOf.ts"
import { insertTask } from "../engine/runner/support/tasks.ts"
import { eventsIn, runData } from "../notifications/support/events.ts"
import { insertChannels, insertWorkspaceOf, SecretsLayer } from "../notifications/support/nodes.ts"
import { startHttpReceiver, type Received } from "../notifications/support/receivers.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import {
  type Action,
  type Channel,
  firstPolicy,
  makeModel,
  type Model,
  type MonitorSubject,
  type Policy,
  randomActions,
  randomNumbers,
  remindMs,
  type Status,
  type Subject,
  threshold
} from "./support/incidentModel.ts"
import { startTwoNodes } from "./support/twoNodes.ts"

const noon = Date.UTC(2026, 5, 1, 12)
const actor: Actor = { kind: "user", id: randomUUID(), name: "Ada Lovelace" }

let share = 3_000

const channels: ReadonlyArray<Channel> = ["main", "first", "second"]

/** Messages about different subjects and messages to different channels can arrive in any order. */
const bySubject = (messages: ReadonlyArray<string>) =>
  Map.groupBy(messages, (message) => message.split(":")[0])

/** Creates a workspace with a monitor and a task, on which the model's actions are performed. */
const setUp = Effect.fnUntraced(function* (policy: Policy) {
  const sql = yield* SqlClient.SqlClient
  yield* TestClock.setTime(noon)
  const workspace_id = yield* insertWorkspaceOf(++share)
  const receiver = yield* startHttpReceiver()
  const policyId = randomUUID()
  const channelIds = yield* insertChannels(
    workspace_id,
    channels.map((name) => ({ config: { url: `${receiver.url}/${name}` } })),
    {
      group_seconds: 0,
      remind_every_seconds: remindMs / 1_000,
      task_failure_threshold: threshold
    }
  )
  const [main = "", first = "", second = ""] = channelIds
  const setPolicy = Effect.fnUntraced(function* (next: Policy) {
    const steps = next.steps.map((step) => ({
      after_seconds: step.afterSeconds,
      channel_ids: step.channels.map((name) => (name === "first" ? first : second)),
      member_ids: []
    }))
    yield* sql`
      INSERT INTO escalation_policies (
        id, workspace_id, key, name, steps, repeat_count, repeat_after_seconds, created_at,
        updated_at
      )
      VALUES (
        ${policyId}, ${workspace_id}, 'on-call', 'On call', ${JSON.stringify(steps)}::jsonb,
        ${next.repeatCount}, ${next.repeatAfterSeconds}, now(), now()
      )
      ON CONFLICT (id) DO UPDATE
      SET
        steps = EXCLUDED.steps,
        repeat_count = EXCLUDED.repeat_count,
        repeat_after_seconds = EXCLUDED.repeat_after_seconds`
  })
  yield* setPolicy(policy)
  const rule = {
    events: ["incident.opened", "incident.closed", "execution.failed", "task.recovered"]
  }
  const rules = [
    { ...rule, channel_ids: [main] },
    { ...rule, channel_ids: [], escalation_id: policyId }
  ]
  yield* sql`
    UPDATE notification_settings
    SET settings = settings || ${JSON.stringify({ rules })}::jsonb
    WHERE workspace_id = ${workspace_id}`
  const ids: Record<Subject, string> = {
    site: randomUUID(),
    monitor: randomUUID(),
    task: yield* insertTask(workspace_id)
  }
  for (const id of [ids.site, ids.monitor]) {
    yield* sql`
      INSERT INTO monitors
        (id, workspace_id, kind, name, tags, status, changed_at, created_at, updated_at)
      VALUES (${id}, ${workspace_id}, 'heartbeat', 'db', '{db}', 'new', now(), now(), now())`
  }
  const nameOf = (id: string): Subject =>
    id === ids.site ? "site" : id === ids.monitor ? "monitor" : "task"
  const describe = ({ body, url }: Received) =>
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
      return `${url.slice(1)} ${nameOf(id)}: ${type}${again}`
    })
  /** Returns the messages. Fails if a message arrived more often than killed nodes can explain. */
  const messages = (unrecorded: ReadonlyMap<string, number>): ReadonlyArray<string> =>
    [...Map.groupBy(receiver.received, ({ body }): string => body.id)].flatMap(([id, arrivals]) => {
      assert.isAtMost(arrivals.length, 1 + (unrecorded.get(id) ?? 0))
      return arrivals.slice(0, 1).flatMap(describe)
    })
  const incidents = Effect.map(
    sql<{
      readonly subject_id: string
      readonly opened_at: Date
      readonly closed_at: Date | null
      readonly acknowledged_at: Date | null
      readonly suppressed_by: string | null
      readonly steps: number
    }>`
      SELECT
        subject_id, opened_at, closed_at, acknowledged_at, suppressed_by,
        (
          SELECT count(*)::int
          FROM incident_actions
          WHERE incident_actions.incident_id = incidents.id
            AND type = 'escalated'
        ) AS steps
      FROM incidents
      WHERE workspace_id = ${workspace_id}
      ORDER BY opened_at, subject_id`,
    (rows) =>
      rows.map(({ acknowledged_at, closed_at, opened_at, steps, subject_id, suppressed_by }) =>
        [
          nameOf(subject_id),
          opened_at.getTime() - noon,
          closed_at === null ? "open" : closed_at.getTime() - noon,
          acknowledged_at === null ? "" : "acknowledged",
          suppressed_by === null ? "" : "suppressed",
          `${steps} steps`
        ].join(" ")
      )
  )
  return { ids, incidents, messages, setPolicy, workspaceId: authorize(workspace_id) }
})

type Scene = Effect.Success<ReturnType<typeof setUp>>

/** Performs one action, as the API, the engine or a check would. */
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
  const change = (subject: MonitorSubject, to: Status) =>
    statusChanges
      .record([
        {
          monitor_id: ids[subject],
          workspace_id,
          kind: "heartbeat",
          from: model.monitorStatus(subject),
          to,
          at,
          cause: to === "down" ? { code: "failed", message: "It failed." } : null
        }
      ])
      .pipe(transaction)
  switch (action.type) {
    case "status":
      return yield* change(action.subject, action.to)
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
      const until = action.ms === 0 ? null : new Date(at + action.ms).toISOString()
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
    case "depend": {
      const { replace } = yield* makeDependencies
      const kindOf = (subject: Subject) => (subject === "task" ? "cron" : "heartbeat")
      const toDependency = (subject: Subject): Dependency => ({
        kind: kindOf(subject),
        id: ids[subject],
        key: null
      })
      const { on, subject } = action
      const before = model.dependsOn(subject).map(toDependency)
      const of = { workspace_id, kind: kindOf(subject), id: ids[subject] } as const
      return yield* replace(of, before, on.map(toDependency)).pipe(transaction)
    }
    case "policy":
      return yield* scene.setPolicy(action.policy)
    case "wait":
      return yield* TestClock.adjust(action.ms)
  }
})

/**
 * Splits a wait so that it stops just before each of the policy's steps, and again when the step is
 * due.
 */
function* splitWait(action: Action, model: Model): Generator<Action> {
  if (action.type !== "wait") return yield action
  let left = action.ms
  while (left > 0) {
    const next = model.nextStepInMs()
    const ms = next === undefined ? left : Math.min(left, next > 1 ? next - 1 : 1)
    left -= ms
    yield { type: "wait", ms }
  }
}

layer(TestDatabaseLayer, { timeout: "120 seconds" })("Incidents and their messages", (it) => {
  it.effect.each(Array.from({ length: 10 }, (_, seed) => seed + 1))(
    "are those of a plain model although nodes are killed, with the seed %i",
    (seed) =>
      Effect.gen(function* () {
        const policy = firstPolicy(seed)
        const scene = yield* setUp(policy)
        const nodes = yield* startTwoNodes(scene.workspaceId)
        const model = makeModel(noon, policy)
        const random = randomNumbers(seed)
        const done: Array<string> = [JSON.stringify(policy)]
        for (const action of randomActions(seed, 30, model)) {
          for (const one of splitWait(action, model)) {
            const killAfter = random(3) === 0 ? random(12) : Number.POSITIVE_INFINITY
            const kills = Array.from({ length: 1 + random(2) }, () =>
              random(random(2) === 0 ? 16 : 60)
            )
            done.push(JSON.stringify({ ...one, killAfter, kills }))
            yield* nodes.request(act(scene, model, one), killAfter)
            model.apply(one)
            yield* nodes.settle(kills)
            model.settle()
            const context = `seed ${seed}: ${done.join(" ")}`
            assert.deepStrictEqual(
              bySubject(scene.messages(nodes.unrecorded)),
              bySubject(model.messages),
              context
            )
            const incidents = yield* scene.incidents
            assert.deepStrictEqual(incidents.toSorted(), model.incidents().toSorted(), context)
          }
        }
      }).pipe(Effect.provide(SecretsLayer))
  )
})
