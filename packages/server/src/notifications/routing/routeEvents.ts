import {
  isProblem,
  isRecovery,
  recoveryOfProblem
} from "@scheduling/domain/notifications/NotificationEvent"
import { parseErrorLine } from "@scheduling/domain/executions/ExecutionError"
import { maxListedEvents } from "@scheduling/domain/notifications/NotificationDelivery"
import { Struct } from "effect"
import { toOneLine, truncate } from "../../core/index.ts"
import { subjectRemoved } from "../../events/index.ts"
import {
  type MaintenanceCoverage,
  type IncidentEnd,
  isCoveredByMaintenance,
  type NewIncident,
  type Suppression
} from "../../incidents/index.ts"
import { channelKinds } from "../kinds/channelKinds.ts"
import { quietHoursEnd } from "../settings/quietHours.ts"
import { defaultSettings, type StoredRule, type StoredSettings } from "../settings/SettingsRepo.ts"
import { type DependentsDown, describeEvent, describeFailure } from "./describeEvent.ts"
import { type NewDelivery, newDelivery } from "../sending/newDelivery.ts"
import {
  describeEscalationStep,
  type EscalatedStep,
  type Escalation,
  type PolicyWithChannels,
  nextStepAfter
} from "./escalate.ts"
import { type ChannelNotice, groupNotices, type ActiveChannel } from "./groupNotices.ts"
import type { AlertEvent, OutboxEvent } from "./OutboxEvent.ts"
import { type NoticeType, type Problem, problemAfter } from "./problemAfter.ts"

/**
 * A stored problem. Reminders repeat the `tags` and `data` of the event with which the problem
 * began.
 */
export interface ProblemRow extends Problem {
  readonly subject_id: string
  readonly workspace_id: string
  readonly tags: ReadonlyArray<string>
  readonly data: OutboxEvent["data"]
  /** When the router checks whether it has missed a recovery. */
  readonly check_at: Date | null
  /** The problem's incident. Null until a task has failed often enough. */
  readonly incident_id: string | null
}

/** Whether an incident is closed, acknowledged, snoozed or suppressed. */
export interface IncidentState {
  readonly id: string
  readonly closed_at: Date | null
  readonly acknowledged_at: Date | null
  readonly snoozed_until: Date | null
  /** A dependency's open incident. While it is set, nobody is notified of this incident. */
  readonly suppressed_by: string | null
}

/** A channel that was notified of a subject's problem. */
export interface NotifiedChannel {
  readonly channel_id: string
  readonly subject_id: string
  readonly incident_key: string
  /** The number of subjects that share the incident at the provider. */
  readonly sharing: number
}

/** How many of a workspace's callbacks are waiting, and the limit of waiting callbacks. */
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
  /** Task and chain names, by id. */
  readonly tasks: ReadonlyMap<string, { readonly workspace_id: string; readonly name: string }>
  /** Problems by subject. */
  readonly problems: ReadonlyMap<string, ProblemRow>
  /** The incidents of problems and events, by id. */
  readonly incidents: ReadonlyMap<string, IncidentState>
  /** The subjects and tags in maintenance, by workspace. */
  readonly coverage: ReadonlyMap<string, MaintenanceCoverage>
  /** For each subject with dependencies, a dependency's open incident, or null if there is none. */
  readonly suppressors: ReadonlyMap<string, string | null>
  /** The monitors and tasks that are down and depend on a subject, by subject. */
  readonly dependents: ReadonlyMap<string, DependentsDown>
  /**
   * The channels that were notified of a problem, for events that `needsNotifiedChannels` returns
   * true for.
   */
  readonly notified: ReadonlyArray<NotifiedChannel>
  /** The escalation policies that rules and due steps name, by id. */
  readonly policies: ReadonlyMap<string, PolicyWithChannels>
  /** Pairs of a subject and a policy that has steps left, for subjects with reminders. */
  readonly running: ReadonlySet<string>
  /** Callbacks by workspace, for workspaces with callbacks among the events. */
  readonly callbacks: ReadonlyMap<string, CallbackQuota>
}

/** Everything that the router writes about a batch of events. */
export interface RoutingResult {
  readonly deliveries: ReadonlyArray<NewDelivery>
  readonly changedProblems: ReadonlyArray<ProblemRow>
  /** The ids of subjects whose problem has ended. */
  readonly endedProblems: ReadonlyArray<string>
  readonly notified: ReadonlyArray<Omit<NotifiedChannel, "sharing">>
  /** Incidents of tasks. Monitors' incidents open and close when the monitor's status changes. */
  readonly opened: ReadonlyArray<NewIncident>
  readonly closed: ReadonlyArray<IncidentEnd>
  readonly suppressions: ReadonlyArray<Suppression>
  /** The policies' next steps, and the policies that have finished. */
  readonly escalations: ReadonlyArray<Escalation>
  readonly escalated: ReadonlyArray<EscalatedStep>
}

/**
 * Decides which deliveries the events become, from the workspaces' settings and the stored state.
 * This function is pure: anything else that affects who is notified must be added to
 * `RoutingState`. `channels` contains those channels from `candidateChannels` that are confirmed and
 * not paused.
 */
export const routeEvents = (
  events: ReadonlyArray<OutboxEvent>,
  state: RoutingState,
  channels: ReadonlyArray<ActiveChannel>,
  now: Date,
  nextId: () => string
): RoutingResult => {
  const routed = noticesOf(events, state, now, nextId)
  const { changed, closed, escalated, escalations, notices } = routed
  const { opened, problems, suppressions } = routed
  const alerts = groupNotices(addressNotices(notices, channels, state, now), nextId)
  return {
    deliveries: [...alerts, ...routeCallbacks(events, state.callbacks, now, nextId)],
    changedProblems: [...changed].flatMap((id) => problems.get(id) ?? []),
    opened,
    closed,
    suppressions,
    escalations: escalations.filter(({ subject_id }) => problems.has(subject_id)),
    escalated,
    endedProblems: [...changed].filter((id) => !problems.has(id) && state.problems.has(id)),
    notified: alerts.flatMap(({ channel_id, channel_kind, id, incident_key, opened }) =>
      channel_id === null
        ? []
        : [...opened]
            .filter((subject_id) => problems.has(subject_id))
            .map((subject_id) => ({
              channel_id,
              subject_id,
              incident_key: channelKinds[channel_kind].keepsIncidents
                ? (incident_key ?? id)
                : subject_id
            }))
    )
  }
}

/**
 * Returns the ids of the channels that the events may be sent to, and of the workspaces in which an
 * event goes to all channels. Which of the channels are confirmed and not paused must be read.
 */
export const candidateChannels = (
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

/**
 * Returns whether routing the event requires knowing which channels were notified of the problem.
 */
export const needsNotifiedChannels = ({ data, event }: OutboxEvent): boolean =>
  event === subjectRemoved || isRecovery(event) || data.reminder === true

/**
 * How long after a failure the router checks whether it has missed a success. Two statements that
 * settle a task's runs at the same time do not see each other's results. The statement timeout is
 * half a minute, so both have finished by then.
 */
export const missedSuccessCheckDelayMs = 40_000

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
   * True if the subject was deleted or paused. No recovery is then announced, and open incidents
   * are closed.
   */
  readonly isGone: boolean
}

/** Returns the id of the incident that a monitor's event belongs to. */
export const incidentIdOf = ({ data: { about } }: Pick<OutboxEvent, "data">): string | null =>
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
  const suppressions: Array<Suppression> = []
  const escalations: Array<Escalation> = []
  const escalated: Array<EscalatedStep> = []
  for (const written of events) {
    const { subject_id, workspace_id } = written
    const settings = state.settings.get(workspace_id) ?? defaultSettings
    const known = problems.get(subject_id)
    const event = alertOf(written, known)
    if (event === undefined) continue
    const isInMaintenance = isCoveredByMaintenance(state.coverage.get(workspace_id), {
      id: subject_id,
      tags: event.tags
    })
    // A monitor's incident opens only when the monitor is not in maintenance, so it is never held.
    const isHeld = isInMaintenance && event.event !== "incident.opened"
    const knownIncidentId = incidentIdOf(event) ?? known?.incident_id ?? null
    const wasSuppressed = state.incidents.get(knownIncidentId ?? "")?.suppressed_by ?? null
    const waits = isHeld
      ? { hold_until: known?.hold_until ?? null, suppressed_by: wasSuppressed }
      : waitOf(state.suppressors.get(subject_id), known, wasSuppressed, now)
    const { notice, problem } = problemAfter(known, event, settings, now, waits)
    const task = state.tasks.get(subject_id)
    const taskName = task?.workspace_id === workspace_id ? task.name : undefined
    const isGone = written.event === subjectRemoved
    const begins =
      notice === "begun" || (problem !== known && problem?.withheld === true && !isHeld)
    const suppressed_by = waits?.suppressed_by ?? null
    const incident =
      begins && knownIncidentId === null
        ? newTaskIncident(event, taskName, suppressed_by, nextId)
        : undefined
    if (incident !== undefined) opened.push(incident)
    const incidentId = incident?.id ?? knownIncidentId
    if (begins && knownIncidentId !== null && suppressed_by !== wasSuppressed) {
      suppressions.push({ id: knownIncidentId, suppressed_by })
    }
    if (problem !== known) {
      changed.add(subject_id)
      if (problem === undefined) problems.delete(subject_id)
      else problems.set(subject_id, problemRow(event, problem, known, incidentId, now))
    }
    if (problem === undefined && known?.data.run !== undefined && known.incident_id !== null) {
      closed.push({ subject_id, at: event.at.getTime(), recovered: !isGone })
    }
    const { escalation } = event.data
    const policy = state.policies.get(escalation?.policy_id ?? "")
    const incidentState = state.incidents.get(incidentId ?? "")
    if (escalation !== undefined && policy !== undefined && notice === "reminder") {
      const waits = isInMaintenance ? now : snoozeOf(incidentState, now)
      escalations.push({
        subject_id,
        workspace_id,
        policy_id: policy.id,
        ...(waits === undefined
          ? nextStepAfter(policy, escalation, now)
          : { ...escalation, due_at: waits })
      })
    }
    if (notice === "reminder" && isInMaintenance) continue
    if (notice === undefined || isSilenced(notice, incidentState, now)) continue
    if (escalation !== undefined && policy !== undefined && incidentId !== null) {
      escalated.push({
        id: nextId(),
        incident_id: incidentId,
        message: describeEscalationStep(policy, escalation)
      })
    }
    const named = applyRules(settings.rules, state.policies, event)
    const own = named.policies.filter(
      ({ id }) => notice !== "reminder" || !state.running.has(`${subject_id} ${id}`)
    )
    if (notice === "begun") escalations.push(...own.map((one) => firstStep(one, event, now)))
    notices.push({
      event,
      type: notice,
      problem: problem ?? known,
      taskName,
      incidentId,
      settings,
      channelIds: isGone
        ? notifiedOf(subject_id, state.notified)
        : escalation !== undefined
          ? new Set(policy?.steps[escalation.step]?.channel_ids)
          : new Set([
              ...named.channelIds,
              ...own.flatMap((one) => channelsOfPolicy(one, notice)),
              ...(event.data.channel_ids ?? [])
            ]),
      isGone
    })
  }
  return { notices, problems, changed, opened, closed, suppressions, escalations, escalated }
}

/** How long the first message about a subject waits in case an incident of a dependency opens. */
export const firstMessageHoldMs = 30_000

/**
 * How long a message about a subject is withheld after its dependency has recovered, because the
 * subject may recover too.
 */
export const dependencyRecoveryHoldMs = 90_000

/**
 * Returns how long a problem is withheld because of its subject's dependencies: while the incident
 * `suppressed_by` is open, or until `hold_until`. Returns undefined if the problem is not withheld.
 * `suppressor` is undefined for a subject without dependencies.
 */
const waitOf = (
  suppressor: string | null | undefined,
  known: Pick<Problem, "hold_until"> | undefined,
  wasSuppressed: string | null,
  now: Date
) => {
  if (suppressor === undefined) return undefined
  if (suppressor !== null) return { suppressed_by: suppressor, hold_until: null }
  const hold_until =
    wasSuppressed !== null
      ? new Date(now.getTime() + dependencyRecoveryHoldMs)
      : (known?.hold_until ?? new Date(now.getTime() + firstMessageHoldMs))
  return hold_until > now ? { suppressed_by: null, hold_until } : undefined
}

/**
 * Returns whether a notice is dropped because its incident is acknowledged or, if it is a reminder,
 * closed or snoozed. An incident's end is always announced.
 */
const isSilenced = (type: NoticeType, incident: IncidentState | undefined, now: Date): boolean => {
  if (incident === undefined || type === "ended" || type === "other") return false
  const { acknowledged_at, closed_at, snoozed_until } = incident
  if (acknowledged_at !== null) return true
  return type === "reminder" && (closed_at !== null || (snoozed_until ?? now) > now)
}

/**
 * Creates the incident for a task that has failed often enough. Delayed tasks have no incidents.
 */
const newTaskIncident = (
  { at, data, subject_id, workspace_id }: AlertEvent,
  taskName: string | undefined,
  suppressed_by: string | null,
  nextId: () => string
): NewIncident | undefined => {
  const { run } = data
  if (run === undefined || run.kind === "delayed") return undefined
  const { error: line, step } = data.failed_step ?? run
  const error = line === null ? undefined : parseErrorLine(line)
  const message = error?.message ?? "A step of the run failed."
  return {
    id: nextId(),
    workspace_id,
    subject_kind: run.kind,
    subject_id,
    subject_name: truncate(toOneLine(taskName ?? data.name ?? "a deleted record"), 200),
    opened_at: at.getTime(),
    closed_at: null,
    suppressed_by,
    cause: {
      code: error?.code ?? "unknown",
      message: describeFailure(step, message)
    }
  }
}

/**
 * Returns the event as an alert. Returns undefined for an event that goes only to a callback, and
 * for an event about a deleted subject that has no problem.
 */
const alertOf = (written: OutboxEvent, known: ProblemRow | undefined): AlertEvent | undefined => {
  const { callback_url, event } = written
  if (callback_url !== null || event === "execution.succeeded" || event === "chain_run.succeeded") {
    return undefined
  }
  if (event !== subjectRemoved) return { ...written, event }
  if (known === undefined || !isProblem(known.event)) return undefined
  const data = { ...known.data, reminder: false, reason: "It was paused or deleted." }
  return { ...written, event: recoveryOfProblem[known.event], data }
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
    data.run === undefined
      ? (known?.check_at ?? null)
      : new Date(now.getTime() + missedSuccessCheckDelayMs),
  subject_id,
  workspace_id,
  tags,
  data
})

const notifiedOf = (subjectId: string, notified: ReadonlyArray<NotifiedChannel>) =>
  new Set(
    notified.flatMap(({ channel_id, subject_id }) => (subject_id === subjectId ? [channel_id] : []))
  )

/**
 * Returns until when a step waits because its incident is snoozed. Returns undefined if the
 * incident is not snoozed.
 */
const snoozeOf = (incident: IncidentState | undefined, now: Date) => {
  const until = incident?.snoozed_until ?? null
  return until !== null && until > now ? until : undefined
}

/** Returns the channels and the escalation policies that the rules name for an event. */
export const applyRules = (
  rules: ReadonlyArray<StoredRule>,
  policies: RoutingState["policies"],
  event: Pick<AlertEvent, "event" | "subject_id" | "tags">
): {
  readonly channelIds: ReadonlyArray<string>
  readonly policies: ReadonlyArray<PolicyWithChannels>
} => {
  const own = rules.filter((rule) => isAbout(rule, event))
  return {
    channelIds: [...new Set(own.flatMap(({ channel_ids }) => channel_ids))],
    policies: [...new Set(own.map(({ escalation_id }) => escalation_id ?? ""))].flatMap(
      (id) => policies.get(id) ?? []
    )
  }
}

const firstStep = (
  { id, steps }: PolicyWithChannels,
  { subject_id, workspace_id }: AlertEvent,
  now: Date
): Escalation => ({
  subject_id,
  workspace_id,
  policy_id: id,
  step: 0,
  round: 0,
  due_at: new Date(now.getTime() + (steps[0]?.after_seconds ?? 0) * 1_000)
})

/**
 * Returns a policy's channels that an event can be sent to. The beginning of a problem goes to no
 * channel, because the steps announce it. The problem's end, and reminders after the last step, go
 * to the channels that a step has notified. An event without a problem goes to the first step's
 * channels.
 */
const channelsOfPolicy = (
  { steps }: PolicyWithChannels,
  type: NoticeType
): ReadonlyArray<string> => {
  if (type === "begun") return []
  return (type === "other" ? steps.slice(0, 1) : steps).flatMap(({ channel_ids }) => channel_ids)
}

const isAbout = (
  { events, monitor_ids, tags, task_ids }: StoredRule,
  { event, subject_id, tags: own }: Pick<AlertEvent, "event" | "subject_id" | "tags">
): boolean => {
  if (!events.includes(event)) return false
  if (tags !== undefined && !tags.some((tag) => own.includes(tag))) return false
  if (task_ids === undefined && monitor_ids === undefined) return true
  const named: ReadonlyArray<string> = [...(task_ids ?? []), ...(monitor_ids ?? [])]
  return named.includes(subject_id)
}

/**
 * Pairs each notice with the channels that receive it. A problem's end goes only to channels that
 * were notified of its beginning.
 */
const addressNotices = (
  notices: ReadonlyArray<Notice>,
  channels: ReadonlyArray<ActiveChannel>,
  { dependents, notified }: Pick<RoutingState, "dependents" | "notified">,
  now: Date
): ReadonlyArray<ChannelNotice> => {
  const byWorkspace = Map.groupBy(channels, ({ workspace_id }) => workspace_id)
  const keyOf = (channelId: string, subjectId: string) => `${channelId} ${subjectId}`
  const known = new Map(notified.map((row) => [keyOf(row.channel_id, row.subject_id), row]))
  const begun = new Set<string>()
  const left = new Map<string, number>()

  return notices.flatMap((notice) => {
    const { channelIds, event, incidentId, isGone, problem, settings, taskName } = notice
    const own = byWorkspace.get(event.workspace_id) ?? []
    const named = own.filter(({ id }) =>
      isForAll(event) ? id !== event.subject_id : channelIds.has(id)
    )
    if (named.length === 0) return []
    const down = notice.type === "other" ? undefined : dependents.get(event.subject_id)
    const described = {
      ...describeEvent(event, taskName, problem, down),
      ...(incidentId !== null &&
        (notice.type === "begun" || notice.type === "reminder") && { incident_id: incidentId })
    }
    // An approval request is sent even in quiet hours, because the step may time out. It is not
    // grouped, because only a message about one event has a link.
    const isUrgent = event.event === "approval.requested"
    const quiet = isUrgent ? undefined : quietHoursEnd(settings.quiet_hours, now)
    return named.flatMap((channel): ReadonlyArray<ChannelNotice> => {
      const { keepsIncidents } = channelKinds[channel.kind]
      if (isGone && !keepsIncidents) return []
      const key = keyOf(channel.id, event.subject_id)
      const before = known.get(key)
      // The problem may have begun in the same batch.
      const knew = before !== undefined || begun.has(key)
      const isFirst = event.data.escalation !== undefined && !knew
      const type = isFirst ? "begun" : notice.type
      if (type === "begun") begun.add(key)
      const knowsBeginning = knew || type === "begun"
      if ((type === "ended" || type === "reminder") && !knowsBeginning) return []
      if (type === "reminder" && keepsIncidents) return []
      const incident_key = before?.incident_key ?? event.subject_id
      if (keepsIncidents && type === "ended" && incident_key !== event.subject_id) {
        // A shared incident ends when the last of its subjects has recovered.
        const incident = keyOf(channel.id, incident_key)
        const rest = (left.get(incident) ?? before?.sharing ?? 1) - 1
        left.set(incident, rest)
        if (rest > 0) return []
      }
      return [
        {
          channel,
          event: isFirst ? Struct.omit(described, ["reminder"]) : described,
          type,
          incident_key: type === "ended" ? incident_key : undefined,
          incident_id: incidentId ?? undefined,
          due_at: quiet ?? now,
          groups: settings.group_seconds > 0 || quiet !== undefined,
          isAlone: isUrgent
        }
      ]
    })
  })
}

/**
 * Creates a delivery for each callback, up to the limit of waiting callbacks. Further callbacks are
 * dropped and counted in one record, so that a receiver that is slower than the runs cannot cause
 * the disk to fill up.
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
      error: `${limit} callbacks were already waiting, the limit of the plan`,
      other: dropped.length,
      shown: dropped.slice(0, maxListedEvents).map((event) => describeEvent(event))
    })
    return [...accepted, record]
  })
}
