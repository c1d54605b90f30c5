import {
  isProblem,
  isRecovery,
  recoveries
} from "@scheduling/domain/notifications/NotificationEvent"
import { parseErrorLine } from "@scheduling/domain/executions/ExecutionError"
import { maxNamedEvents } from "@scheduling/domain/notifications/NotificationDelivery"
import { oneLine, truncate } from "../../core/index.ts"
import { subjectRemoved } from "../../events/index.ts"
import {
  type Coverage,
  type IncidentEnd,
  isCovered,
  type NewIncident
} from "../../incidents/index.ts"
import { kinds } from "../kinds/kinds.ts"
import { quietUntil } from "../settings/quietHours.ts"
import { noSettings, type StoredRule, type StoredSettings } from "../settings/SettingsRepo.ts"
import { describeEvent } from "./describeEvent.ts"
import { type NewDelivery, newDelivery } from "../sending/newDelivery.ts"
import { type ChannelNotice, groupNotices, type OpenChannel } from "./groupNotices.ts"
import type { AlertEvent, OutboxEvent } from "./OutboxEvent.ts"
import { type NoticeType, type Problem, problemAfter } from "./problemAfter.ts"

/** A stored problem. Reminders repeat `tags` and `data` of the event that began it. */
export interface ProblemRow extends Problem {
  readonly subject_id: string
  readonly workspace_id: string
  readonly tags: ReadonlyArray<string>
  readonly data: OutboxEvent["data"]
  /** When to check whether a recovery was missed. */
  readonly check_at: Date | null
  /** The incident of the problem. Null until a task has failed often enough. */
  readonly incident_id: string | null
}

/** What people did about an incident. */
export interface IncidentState {
  readonly id: string
  readonly closed_at: Date | null
  readonly acknowledged_at: Date | null
  readonly snoozed_until: Date | null
}

/** A channel that was notified of a subject's problem. */
export interface NotifiedChannel {
  readonly channel_id: string
  readonly subject_id: string
  readonly incident_key: string
  /** How many subjects share the incident. */
  readonly sharing: number
}

/** The number of waiting callbacks of a workspace, and its limit. */
export interface CallbackQuota {
  readonly waiting: number
  readonly limit: number
  /** The id of the record that counts the callbacks dropped within the last hour. */
  readonly dropped_id: string | null
}

/** The stored state of the events' subjects and workspaces. */
export interface RoutingState {
  /** Settings by workspace. */
  readonly settings: ReadonlyMap<string, StoredSettings>
  /** Names by task or chain. */
  readonly tasks: ReadonlyMap<string, { readonly workspace_id: string; readonly name: string }>
  /** Problems by subject. */
  readonly problems: ReadonlyMap<string, ProblemRow>
  /** The incidents of problems and events, by id. */
  readonly incidents: ReadonlyMap<string, IncidentState>
  /** What is in maintenance, by workspace. */
  readonly coverage: ReadonlyMap<string, Coverage>
  /** The notified channels of subjects for which `needsNotified` returns true. */
  readonly notified: ReadonlyArray<NotifiedChannel>
  /** Callbacks by workspace, for workspaces with callbacks among the events. */
  readonly callbacks: ReadonlyMap<string, CallbackQuota>
}

export interface RoutingResult {
  readonly deliveries: ReadonlyArray<NewDelivery>
  readonly changedProblems: ReadonlyArray<ProblemRow>
  /** The ids of subjects whose problem has ended. */
  readonly endedProblems: ReadonlyArray<string>
  readonly notified: ReadonlyArray<Omit<NotifiedChannel, "sharing">>
  /** The incidents of tasks that open or end. Those of monitors do so with their status. */
  readonly opened: ReadonlyArray<NewIncident>
  readonly closed: ReadonlyArray<IncidentEnd>
}

/**
 * Decides which deliveries the events become, from the settings of the workspace and the stored
 * state. This function is pure: anything else that should decide who is notified becomes part of
 * `RoutingState`. `channels` are those
 * that `channelsToAsk` returns and that are confirmed and not paused.
 */
export const route = (
  events: ReadonlyArray<OutboxEvent>,
  state: RoutingState,
  channels: ReadonlyArray<OpenChannel>,
  now: Date,
  nextId: () => string
): RoutingResult => {
  const { changed, closed, notices, opened, problems } = noticesOf(events, state, now, nextId)
  const alerts = groupNotices(addressNotices(notices, channels, state.notified, now), nextId)
  return {
    deliveries: [...alerts, ...routeCallbacks(events, state.callbacks, now, nextId)],
    changedProblems: [...changed].flatMap((id) => problems.get(id) ?? []),
    opened,
    closed,
    endedProblems: [...changed].filter((id) => !problems.has(id) && state.problems.has(id)),
    notified: alerts.flatMap(({ channel_id, channel_kind, id, incident_key, opened }) =>
      channel_id === null
        ? []
        : [...opened]
            .filter((subject_id) => problems.has(subject_id))
            .map((subject_id) => ({
              channel_id,
              subject_id,
              incident_key: kinds[channel_kind].keepsIncidents ? (incident_key ?? id) : subject_id
            }))
    )
  }
}

/**
 * Returns the channels that the events may go to, and the workspaces in which an event goes to all
 * channels.
 */
export const channelsToAsk = (
  events: ReadonlyArray<OutboxEvent>,
  state: RoutingState,
  now: Date
) => {
  const { notices } = noticesOf(events, state, now, () => "")
  return {
    channelIds: [...new Set(notices.flatMap(({ channelIds }) => [...channelIds]))],
    workspaceIds: [
      ...new Set(notices.flatMap(({ event }) => (isForAll(event) ? [event.workspace_id] : [])))
    ]
  }
}

/** Returns whether routing the event requires the channels that were notified of the problem. */
export const needsNotified = ({ data, event }: OutboxEvent): boolean =>
  event === subjectRemoved || isRecovery(event) || data.reminder === true

/**
 * How long after a failure the router checks whether it missed a success: two statements that
 * settle runs of one task at the same time do not see each other. After this time both have
 * finished, because the statement timeout is half a minute.
 */
export const checkAfterMs = 40_000

// ---------------------------------------------------------------------------

/** An event that leads to a notification. */
interface Notice {
  readonly event: AlertEvent
  readonly type: NoticeType
  readonly problem: Problem | undefined
  readonly taskName: string | undefined
  readonly incidentId: string | null
  readonly settings: StoredSettings
  /** The channels that the rules name, without duplicates. */
  readonly channelIds: ReadonlySet<string>
  /**
   * Whether the subject was deleted or paused. In this case no recovery is announced, and open
   * incidents are closed.
   */
  readonly isGone: boolean
}

/** Returns the incident of a monitor's event. */
export const incidentOf = ({ data: { about } }: Pick<OutboxEvent, "data">): string | null =>
  about !== undefined && "incident" in about ? about.incident.id : null

const isForAll = ({ event }: AlertEvent) => event === "channel.paused"

const noticesOf = (
  events: ReadonlyArray<OutboxEvent>,
  state: RoutingState,
  now: Date,
  nextId: () => string
) => {
  const problems = new Map(state.problems)
  const changed = new Set<string>()
  const notices: Array<Notice> = []
  const opened: Array<NewIncident> = []
  const closed: Array<IncidentEnd> = []
  for (const written of events) {
    const { subject_id, workspace_id } = written
    const settings = state.settings.get(workspace_id) ?? noSettings
    const known = problems.get(subject_id)
    const event = alertOf(written, known)
    if (event === undefined) continue
    const isInMaintenance = isCovered(state.coverage.get(workspace_id), {
      id: subject_id,
      tags: event.tags
    })
    // An incident of a monitor opens only outside of maintenance.
    const isHeld = isInMaintenance && event.event !== "incident.opened"
    const { notice, problem } = problemAfter(known, event, settings, now, isHeld)
    const task = state.tasks.get(subject_id)
    const taskName = task?.workspace_id === workspace_id ? task.name : undefined
    const isGone = written.event === subjectRemoved
    const incident = notice === "begun" ? newTaskIncident(event, taskName, nextId) : undefined
    if (incident !== undefined) opened.push(incident)
    const incidentId = incident?.id ?? incidentOf(event) ?? known?.incident_id ?? null
    if (problem !== known) {
      changed.add(subject_id)
      if (problem === undefined) problems.delete(subject_id)
      else problems.set(subject_id, problemRow(event, problem, known, incidentId, now))
    }
    if (problem === undefined && known?.data.run !== undefined && known.incident_id !== null) {
      closed.push({ subject_id, at: event.at.getTime(), recovered: !isGone })
    }
    if (notice === "reminder" && isInMaintenance) continue
    if (notice === undefined || isSilenced(notice, state.incidents.get(incidentId ?? ""), now)) {
      continue
    }
    notices.push({
      event,
      type: notice,
      problem: problem ?? known,
      taskName,
      incidentId,
      settings,
      channelIds: isGone
        ? notifiedOf(subject_id, state.notified)
        : channelsFor(settings.rules, event),
      isGone
    })
  }
  return { notices, problems, changed, opened, closed }
}

/** Nobody is notified of an incident that somebody is aware of, except that it has ended. */
const isSilenced = (type: NoticeType, incident: IncidentState | undefined, now: Date): boolean => {
  if (incident === undefined || type === "ended" || type === "other") return false
  const { acknowledged_at, closed_at, snoozed_until } = incident
  if (acknowledged_at !== null) return true
  return type === "reminder" && (closed_at !== null || (snoozed_until ?? now) > now)
}

/** Creates the incident of a task that has failed often enough. Delayed tasks have no incidents. */
const newTaskIncident = (
  { at, data, subject_id, workspace_id }: AlertEvent,
  taskName: string | undefined,
  nextId: () => string
): NewIncident | undefined => {
  const { run } = data
  if (run === undefined || run.kind === "delayed") return undefined
  const error = run.error === null ? undefined : parseErrorLine(run.error)
  const message = error?.message ?? "A step of the run failed."
  return {
    id: nextId(),
    workspace_id,
    subject_kind: run.kind,
    subject_id,
    subject_name: truncate(oneLine(taskName ?? data.name ?? "a deleted record"), 200),
    opened_at: at.getTime(),
    closed_at: null,
    cause: {
      code: error?.code ?? "unknown",
      message: truncate(oneLine(run.step === null ? message : `step ${run.step}: ${message}`), 300)
    }
  }
}

/** Returns undefined for a callback, and for a deleted subject without a problem. */
const alertOf = (written: OutboxEvent, known: ProblemRow | undefined): AlertEvent | undefined => {
  const { callback_url, event } = written
  if (callback_url !== null || event === "execution.succeeded" || event === "chain_run.succeeded") {
    return undefined
  }
  if (event !== subjectRemoved) return { ...written, event }
  if (known === undefined || !isProblem(known.event)) return undefined
  const data = { ...known.data, reminder: false, reason: "It was paused or deleted." }
  return { ...written, event: recoveries[known.event], data }
}

const problemRow = (
  { data, subject_id, tags, workspace_id }: AlertEvent,
  problem: Problem,
  known: ProblemRow | undefined,
  incident_id: string | null,
  now: Date
): ProblemRow => ({
  ...problem,
  incident_id,
  check_at:
    data.run === undefined ? (known?.check_at ?? null) : new Date(now.getTime() + checkAfterMs),
  subject_id,
  workspace_id,
  tags,
  data
})

const notifiedOf = (subjectId: string, notified: ReadonlyArray<NotifiedChannel>) =>
  new Set(
    notified.flatMap(({ channel_id, subject_id }) => (subject_id === subjectId ? [channel_id] : []))
  )

const channelsFor = (rules: ReadonlyArray<StoredRule>, event: AlertEvent) =>
  new Set<string>(
    rules.filter((rule) => isAbout(rule, event)).flatMap(({ channel_ids }) => channel_ids)
  )

const isAbout = (
  { events, monitor_ids, tags, task_ids }: StoredRule,
  { event, subject_id, tags: own }: AlertEvent
): boolean => {
  if (!events.includes(event)) return false
  if (tags !== undefined && !tags.some((tag) => own.includes(tag))) return false
  if (task_ids === undefined && monitor_ids === undefined) return true
  const named: ReadonlyArray<string> = [...(task_ids ?? []), ...(monitor_ids ?? [])]
  return named.includes(subject_id)
}

/**
 * Pairs each notice with the channels that receive it. The end of a problem goes only to channels
 * that were notified of its beginning.
 */
const addressNotices = (
  notices: ReadonlyArray<Notice>,
  channels: ReadonlyArray<OpenChannel>,
  notified: ReadonlyArray<NotifiedChannel>,
  now: Date
): ReadonlyArray<ChannelNotice> => {
  const byWorkspace = Map.groupBy(channels, ({ workspace_id }) => workspace_id)
  const keyOf = (channelId: string, subjectId: string) => `${channelId} ${subjectId}`
  const known = new Map(notified.map((row) => [keyOf(row.channel_id, row.subject_id), row]))
  const begun = new Set<string>()
  const left = new Map<string, number>()

  return notices.flatMap((notice) => {
    const { channelIds, event, incidentId, isGone, problem, settings, taskName, type } = notice
    const own = byWorkspace.get(event.workspace_id) ?? []
    const named = own.filter(({ id }) =>
      isForAll(event) ? id !== event.subject_id : channelIds.has(id)
    )
    if (named.length === 0) return []
    const described = {
      ...describeEvent(event, taskName, problem),
      ...(incidentId !== null &&
        (type === "begun" || type === "reminder") && { incident_id: incidentId })
    }
    const quiet = quietUntil(settings.quiet_hours, now)
    return named.flatMap((channel): ReadonlyArray<ChannelNotice> => {
      const { keepsIncidents } = kinds[channel.kind]
      if (isGone && !keepsIncidents) return []
      const key = keyOf(channel.id, event.subject_id)
      const before = known.get(key)
      if (type === "begun") begun.add(key)
      // The beginning may be in the same batch.
      const knowsBeginning = before !== undefined || begun.has(key)
      if ((type === "ended" || type === "reminder") && !knowsBeginning) return []
      if (type === "reminder" && keepsIncidents) return []
      const incident_key = before?.incident_key ?? event.subject_id
      if (keepsIncidents && type === "ended" && incident_key !== event.subject_id) {
        // A shared incident ends with the last of its subjects.
        const incident = keyOf(channel.id, incident_key)
        const rest = (left.get(incident) ?? before?.sharing ?? 1) - 1
        left.set(incident, rest)
        if (rest > 0) return []
      }
      return [
        {
          channel,
          event: described,
          type,
          incident_key: type === "ended" ? incident_key : undefined,
          incident_id: incidentId ?? undefined,
          due_at: quiet ?? now,
          groups: settings.group_seconds > 0 || quiet !== undefined
        }
      ]
    })
  })
}

/**
 * Creates a delivery for each callback, up to the limit of waiting ones. Callbacks beyond the limit
 * are dropped and counted in one record, so that a receiver that is slower than the runs cannot
 * fill the disk.
 */
const routeCallbacks = (
  events: ReadonlyArray<OutboxEvent>,
  rooms: ReadonlyMap<string, CallbackQuota>,
  now: Date,
  nextId: () => string
): ReadonlyArray<NewDelivery> => {
  const callbacks = events.flatMap(({ callback_url: target, event, ...rest }) =>
    target === null || event === subjectRemoved ? [] : [{ ...rest, event, target }]
  )
  const byWorkspace = Map.groupBy(callbacks, ({ workspace_id }) => workspace_id)
  return [...byWorkspace].flatMap(([workspace_id, own]) => {
    const { dropped_id = null, limit = 0, waiting = 0 } = rooms.get(workspace_id) ?? {}
    const room = Math.max(0, limit - waiting)
    const base = { workspace_id, channel_kind: "callback", due_at: now } as const
    const accepted = own.slice(0, room).map((event) =>
      newDelivery({
        ...base,
        id: nextId(),
        target: event.target,
        ...(isProblem(event.event) ? { begun: 1 } : { ended: 1 }),
        shown: [describeEvent(event)],
        subjects: new Set([event.subject_id])
      })
    )
    const dropped = own.slice(room)
    if (dropped.length === 0) return accepted
    const record = newDelivery({
      ...base,
      id: dropped_id ?? nextId(),
      is_new: dropped_id === null,
      status: "dropped",
      error: `${limit} callbacks were already waiting, which is the limit of the plan`,
      other: dropped.length,
      shown: dropped.slice(0, maxNamedEvents).map((event) => describeEvent(event))
    })
    return [...accepted, record]
  })
}
