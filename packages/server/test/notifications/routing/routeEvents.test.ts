import { assert, describe, it } from "@effect/vitest"
import { authorize } from "../../../src/accounts/access/authorize.ts"
import type { StoredSettings } from "../../../src/notifications/settings/SettingsRepo.ts"
import type { NotificationChannelId } from "@scheduling/domain/shared/Ids"
import { NotificationEvent } from "@scheduling/domain/notifications/NotificationEvent"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"
import type { ActiveChannel } from "../../../src/notifications/routing/groupNotices.ts"
import type { OutboxEvent } from "../../../src/notifications/routing/OutboxEvent.ts"
import {
  candidateChannels,
  needsNotifiedChannels,
  type ProblemRow,
  routeEvents,
  type RoutingState
} from "../../../src/notifications/routing/routeEvents.ts"
import { defaultSettings } from "../../../src/notifications/settings/SettingsRepo.ts"
import { Schema } from "effect"
import { randomUUID } from "node:crypto"
import { maxListedEvents } from "@scheduling/domain/notifications/NotificationDelivery"
import { announcementData, incidentOf, runData } from "../support/events.ts"

const now = new Date("2026-06-01T12:00:00Z")
const workspace = authorize("w")

const db = randomUUID()
const hook = randomUUID()
const incident = randomUUID()
const job = randomUUID()
const subjects = Array.from({ length: 25 }, () => randomUUID())

const event = (fields: Partial<OutboxEvent>): OutboxEvent => {
  const { event: type = "incident.opened", subject_id = db } = fields
  return {
    ordinal: 1n,
    workspace_id: workspace,
    event: type,
    subject_id,
    tags: [],
    at: now,
    data: announcementData(isAlert(type) ? type : "execution.failed", subject_id, "Database"),
    callback_url: null,
    ...fields
  }
}

const isAlert = Schema.is(NotificationEvent)

const webhook = (fields: Partial<ActiveChannel> = {}): ActiveChannel => ({
  id: hook,
  workspace_id: workspace,
  kind: "webhook",
  unfinished: 0,
  open_delivery: null,
  ...fields
})
const pagerduty = webhook({ id: "pager", kind: "pagerduty" })

const idOf = (id: string) => id as NotificationChannelId
const everything = [
  "execution.failed",
  "task.recovered",
  "incident.opened",
  "incident.closed",
  "certificate.expiring"
] as const
const rules = [{ events: everything, channel_ids: [idOf(hook), idOf("pager")] }]

/** Creates a workspace whose state is kept between batches. */
const setUp = (
  channels: ReadonlyArray<ActiveChannel> = [webhook()],
  settings: Partial<StoredSettings> = {}
) => {
  const problems = new Map<string, ProblemRow>()
  let notified: RoutingState["notified"] = []
  let ids = 0
  return {
    problems,
    /** Routes one batch. */
    next: (
      events: ReadonlyArray<Partial<OutboxEvent>>,
      open: ReadonlyArray<ActiveChannel> = channels,
      callbacks: RoutingState["callbacks"] = new Map(),
      isInMaintenance = false
    ) => {
      const batch = events.map(event)
      const asked = new Set(batch.filter(needsNotifiedChannels).map(({ subject_id }) => subject_id))
      const state: RoutingState = {
        settings: new Map([[workspace, { ...defaultSettings, rules, ...settings }]]),
        tasks: new Map([[job, { workspace_id: workspace, name: "Nightly backup" }]]),
        problems: new Map(problems),
        incidents: new Map(),
        coverage: new Map(
          isInMaintenance
            ? [[workspace, { everything: true, tags: new Set<string>(), ids: new Set<string>() }]]
            : []
        ),
        suppressors: new Map(),
        dependents: new Map(),
        notified: notified.filter(({ subject_id }) => asked.has(subject_id)),
        policies: new Map(),
        running: new Set(),
        callbacks
      }
      const { channelIds, workspaceIds } = candidateChannels(batch, state, now)
      const lockable = open.filter(
        ({ id }) => channelIds.includes(id) || workspaceIds.includes(workspace)
      )
      const routed = routeEvents(batch, state, lockable, now, () => `id ${++ids}`)
      for (const row of routed.changedProblems) problems.set(row.subject_id, row)
      for (const subject of routed.endedProblems) problems.delete(subject)
      const kept = [...notified, ...routed.notified].filter((row) => problems.has(row.subject_id))
      notified = kept.map((row) => ({
        ...row,
        sharing: kept.filter(
          (other) => other.channel_id === row.channel_id && other.incident_key === row.incident_key
        ).length
      }))
      return routed.deliveries
    }
  }
}

const shown = (deliveries: ReturnType<ReturnType<typeof setUp>["next"]>) =>
  deliveries.map(({ channel_id, shown: events }) =>
    [channel_id, ...events.map((one) => `${one.event} ${one.subject_id}`)].join(": ")
  )

describe("A problem", () => {
  const failed = { event: "execution.failed", subject_id: job, data: { run: runData() } } as const
  const recovered = { ...failed, event: "task.recovered" } as const
  const delayed = { ...failed, data: { run: runData({ kind: "delayed" }) } } as const
  const reminder = { ...failed, data: { ...failed.data, reminder: true } } as const
  const down = { event: "incident.opened" } as const
  const up = { event: "incident.closed" } as const
  const expiring = { event: "certificate.expiring" } as const

  it.each([
    ["begins with the third failure in a row", [failed, failed, failed, failed], "..x."],
    ["ends once", [failed, failed, failed, recovered, recovered], "..xx."],
    ["has no end without a beginning", [failed, failed, recovered, failed, failed], "....."],
    ["of a monitor begins at once", [down, down, up], "x.x"],
    ["of a task that runs once has no end", [delayed, delayed], "xx"],
    ["is repeated only while it goes on", [reminder, failed, reminder], "..."],
    ["is repeated to channels that got it", [failed, failed, failed, reminder], "..xx"],
    ["does not include other events", [expiring, expiring], "xx"]
  ])("%s", (_, events, expected) => {
    const { next } = setUp([webhook()], { task_failure_threshold: 3 })
    const marks = events.map((one) => (next([one]).length === 0 ? "." : "x"))
    assert.strictEqual(marks.join(""), expected)
    const batch = setUp([webhook()], { task_failure_threshold: 3, group_seconds: 0 })
    assert.lengthOf(batch.next(events), expected.replaceAll(".", "").length)
  })

  it("has the name of its task, and says how long it has lasted", () => {
    const { next } = setUp([webhook()], { task_failure_threshold: 2 })
    next([{ ...failed, at: new Date(now.getTime() - 60_000) }])
    const [delivery] = next([failed])
    assert.strictEqual(delivery?.shown[0]?.name, "Nightly backup")
    assert.deepStrictEqual(
      delivery?.shown[0]?.facts.map(({ name }) => name),
      ["Execution", "Consecutive failures", "Since"]
    )
  })

  it("of a deleted subject closes incidents, and is announced to nobody", () => {
    const { next, problems } = setUp([webhook(), pagerduty])
    next([{ event: "incident.opened" }])
    const deliveries = next([{ event: "subject.removed" }, { event: "subject.removed" }])
    assert.deepStrictEqual(shown(deliveries), [`pager: incident.closed ${db}`])
    assert.strictEqual(deliveries[0]?.incident_key, db)
    assert.strictEqual(problems.size, 0)
  })
})

describe("Maintenance", () => {
  const failed = { event: "execution.failed", subject_id: job, data: { run: runData() } } as const
  const recovered = { ...failed, event: "task.recovered" } as const
  const resumed = { ...failed, data: { ...failed.data, resumed: true } } as const
  const reminder = { ...failed, data: { ...failed.data, reminder: true } } as const

  it.each([
    [
      "notifies when the problem is still there at its end",
      "wwe",
      [failed, failed, resumed],
      "..x"
    ],
    ["forgets what recovers in time", "wwe", [failed, recovered, resumed], "..."],
    ["counts failures for the threshold", "www", [failed, failed, failed], "..."],
    ["does not repeat a problem from before", "eew", [failed, failed, reminder], ".x."],
    ["announces the end of a problem from before", "eew", [failed, failed, recovered], ".xx"]
  ])("%s", (_, phases, events, expected) => {
    const { next } = setUp([webhook()], { task_failure_threshold: 2, remind_every_seconds: 3_600 })
    const marks = events.map((one, index) =>
      next([one], undefined, undefined, phases[index] === "w").length === 0 ? "." : "x"
    )
    assert.strictEqual(marks.join(""), expected)
  })
})

describe("The rules", () => {
  const one = { events: everything, channel_ids: [idOf(hook)] }

  it.each([
    ["name an event", [{ ...one, events: ["incident.closed" as const] }], false],
    ["name a tag", [{ ...one, tags: ["production"] }], true],
    ["name another tag", [{ ...one, tags: ["test"] }], false],
    ["name another monitor", [{ ...one, monitor_ids: ["other" as never] }], false],
    ["name a channel twice", [one, one], true],
    ["are none", [], false]
  ])("%s", (_, given, isNotified) => {
    const { next } = setUp([webhook()], { rules: given })
    assert.lengthOf(next([{ tags: ["production"] }]), isNotified ? 1 : 0)
  })

  it("do not apply to a paused channel, while all other channels are notified", () => {
    const { next } = setUp([webhook(), webhook({ id: "other" })], { rules: [] })
    const deliveries = next([{ event: "channel.paused", subject_id: hook }])
    assert.deepStrictEqual(shown(deliveries), [`other: channel.paused ${hook}`])
  })
})

describe("Deliveries", () => {
  const many = (count: number, type: "incident.opened" | "incident.closed" = "incident.opened") =>
    Array.from({ length: count }, (_, index) => ({
      event: type,
      subject_id: subjects[index] ?? ""
    }))

  it("group all events of a batch and name the first ones", () => {
    const [delivery, ...others] = setUp().next(many(25))
    assert.isEmpty(others)
    assert.deepInclude(delivery, { begun: 25, is_new: true, mergeable: true })
    assert.lengthOf(delivery?.shown ?? [], maxListedEvents)
  })

  it("are added to a waiting one", () => {
    const waiting = webhook({ unfinished: 1, open_delivery: "open" })
    const [delivery, ...others] = setUp().next(many(2), [waiting])
    assert.isEmpty(others)
    assert.deepInclude(delivery, { id: "open", is_new: false, begun: 2 })
  })

  it("are one for each event if the workspace groups nothing, until too many wait", () => {
    const deliveries = setUp([webhook()], { group_seconds: 0 }).next(many(25))
    assert.deepStrictEqual(
      deliveries.map(({ begun }) => begun),
      [...Array(19).fill(1), 6]
    )
  })

  it("about the same subject follow each other", () => {
    const { next } = setUp([webhook()], { group_seconds: 0 })
    const [down, up] = next([{ event: "incident.opened" }, { event: "incident.closed" }])
    assert.deepStrictEqual([...(up?.after ?? [])], [down?.id])
  })

  it("wait as one for the end of the quiet hours", () => {
    const quiet_hours = { timezone: TimeZone.make("UTC"), from: "11:30", to: "12:30" }
    const deliveries = setUp([webhook()], { group_seconds: 0, quiet_hours }).next(many(3))
    assert.lengthOf(deliveries, 1)
    assert.strictEqual(deliveries[0]?.due_at.toISOString(), "2026-06-01T12:30:00.000Z")
  })

  it("know the incidents that they are about", () => {
    const [delivery] = setUp().next([
      { data: { name: "db", about: { incident: incidentOf(db, incident) } } }
    ])
    assert.deepStrictEqual([...(delivery?.incidents ?? [])], [incident])
  })

  it("open an incident for each problem, share one in a storm, and close each once", () => {
    const { next } = setUp([pagerduty])
    const opened = next(many(25))
    assert.lengthOf(opened, 21)
    assert.deepStrictEqual(opened.at(0)?.incident_key, subjects[0])
    const shared = opened.at(-1)
    assert.deepInclude(shared, { begun: 5, incident_key: shared?.id ?? "" })
    assert.lengthOf(next(many(24, "incident.closed")), 20)
    const closed = next([{ event: "incident.closed", subject_id: subjects[24] ?? "" }])
    assert.deepStrictEqual(
      closed.map(({ incident_key }) => incident_key),
      [shared?.id ?? ""]
    )
  })

  it("repeat no problem to a channel that keeps incidents", () => {
    const { next } = setUp([webhook(), pagerduty])
    next([{}])
    const data = { ...announcementData("incident.opened", db), reminder: true }
    assert.deepStrictEqual(shown(next([{ data }])), [`${hook}: incident.opened ${db}`])
  })
})

describe("Callbacks", () => {
  const url = "https://api.example.com/done"
  const ended = (type: "execution.failed" | "execution.succeeded") =>
    ({
      event: type,
      subject_id: job,
      callback_url: url,
      data: { name: "Often", run: runData() }
    }) as const
  const room = (waiting: number, dropped_id: string | null = null) =>
    new Map([[workspace, { waiting, limit: 3, dropped_id }]])

  it("are one delivery for each run, whatever the rules say", () => {
    const { next, problems } = setUp([webhook()], { task_failure_threshold: 9 })
    const deliveries = next([ended("execution.failed"), ended("execution.succeeded")], [], room(0))
    assert.containSubset(deliveries, [
      { channel_id: null, channel_kind: "callback", target: url, begun: 1, ended: 0 },
      { channel_id: null, channel_kind: "callback", target: url, begun: 0, ended: 1 }
    ])
    assert.strictEqual(problems.size, 0)
  })

  it.each<string | null>([null, "earlier"])(
    "beyond the limit are counted in one record (earlier record: %s)",
    (known) => {
      const events = Array.from({ length: 14 }, () => ended("execution.succeeded"))
      const deliveries = setUp().next(events, [], room(2, known))
      assert.lengthOf(deliveries, 2)
      assert.deepInclude(deliveries[1], {
        status: "dropped",
        other: 13,
        is_new: known === null,
        error: "3 callbacks were already waiting, the limit of the plan"
      })
      if (known !== null) assert.strictEqual(deliveries[1]?.id, known)
      assert.lengthOf(deliveries[1]?.shown ?? [], maxListedEvents)
    }
  )
})
