/**
 * A simple model of incidents: what opens and closes one, and when each channel is sent a message.
 * It knows nothing about outboxes, problems and deliveries.
 */

/** `site` and `monitor` are monitors. Each subject can depend on the subjects before it. */
export const subjects = ["site", "task", "monitor"] as const
export type Subject = (typeof subjects)[number]
export type MonitorSubject = Exclude<Subject, "task">
export type Status = "down" | "new" | "paused" | "up"

export type Action =
  | { readonly type: "status"; readonly subject: MonitorSubject; readonly to: Status }
  | { readonly type: "run"; readonly fails: boolean }
  | { readonly type: "acknowledge" | "close"; readonly subject: Subject }
  /** With `ms: 0`, the snooze ends immediately. */
  | { readonly type: "snooze"; readonly subject: Subject; readonly ms: number }
  | { readonly type: "begin"; readonly ms: number; readonly tagged: boolean }
  | { readonly type: "end" }
  | { readonly type: "policy"; readonly policy: Policy }
  | { readonly type: "depend"; readonly subject: Subject; readonly on: ReadonlyArray<Subject> }
  | { readonly type: "wait"; readonly ms: number }

/** A rule sends everything to the channel `main`. The policy's steps notify the other channels. */
export type Channel = "main" | StepChannel
type StepChannel = "first" | "second"

/** An escalation policy that a rule applies to every incident. */
export interface Policy {
  readonly steps: ReadonlyArray<{
    readonly afterSeconds: number
    readonly channels: ReadonlyArray<StepChannel>
  }>
  readonly repeatCount: number
  readonly repeatAfterSeconds: number
}

export const threshold = 2
export const remindMs = 3_600_000
const minute = 60_000

interface Incident {
  readonly subject: Subject
  readonly openedAt: number
  closedAt: number | undefined
  isAcknowledged: boolean
  snoozedUntil: number
  remindAt: number | undefined
  isSuppressed: boolean
  /** The time until which the first message is delayed. */
  holdUntil: number | undefined
  /** True once nothing delays the first message any more. */
  isAnnounced: boolean
  /** The channels to which a message has been sent. */
  readonly notified: Set<Channel>
  /** The policy's next step. Undefined before the first message, and after the last step. */
  nextStep: { readonly index: number; readonly round: number; readonly dueAt: number } | undefined
  /** The number of steps in the incident's history. */
  steps: number
}

const monitorWords = { begun: "incident.opened", ended: "incident.closed" }
const words = {
  site: monitorWords,
  monitor: monitorWords,
  task: { begun: "execution.failed", ended: "task.recovered" }
} as const

/** If a step is later than this, the next step's delay counts from the current time. */
const lateMs = minute

export const makeModel = (start: number, firstPolicy: Policy) => {
  let now = start
  let policy = firstPolicy
  const status: Record<MonitorSubject, Status> = { site: "new", monitor: "new" }
  let failures = 0
  let window: { readonly endsAt: number } | undefined
  const dependsOn: Record<Subject, ReadonlyArray<Subject>> = { site: [], task: [], monitor: [] }
  const incidents: Array<Incident> = []
  const messages: Array<string> = []
  const open = (subject: Subject) =>
    incidents.find((one) => one.subject === subject && one.closedAt === undefined)
  /** Subjects that fail during maintenance. Their incidents open when the maintenance ends. */
  const withheld = new Set<Subject>()
  const isCovered = () => window !== undefined && window.endsAt > now
  const hasSuppressor = (subject: Subject): boolean =>
    dependsOn[subject].some((other) => open(other) !== undefined || hasSuppressor(other))

  const send = ({ notified, subject }: Incident, channel: Channel, isBeginning: boolean) => {
    const again = notified.has(channel) || !isBeginning ? " again" : ""
    notified.add(channel)
    messages.push(`${channel} ${subject}: ${words[subject].begun}${again}`)
  }

  /** Sends the first message about an incident, unless a dependency suppresses or delays it. */
  const decide = (incident: Incident) => {
    const { holdUntil = now + 30_000, isSuppressed: wasSuppressed, subject } = incident
    incident.isSuppressed = hasSuppressor(subject)
    incident.holdUntil = undefined
    if (incident.isSuppressed) return
    const until = wasSuppressed ? now + 90_000 : holdUntil
    if (dependsOn[subject].length > 0 && until > now) {
      incident.holdUntil = until
      return
    }
    incident.isAnnounced = true
    incident.remindAt = now + remindMs
    if (incident.isAcknowledged) return
    send(incident, "main", true)
    const afterMs = (policy.steps[0]?.afterSeconds ?? 0) * 1_000
    incident.nextStep = { index: 0, round: 0, dueAt: now + afterMs }
  }

  /** Performs the policy's next step if it is due. */
  const escalate = (incident: Incident): boolean => {
    const { nextStep, snoozedUntil } = incident
    if (nextStep === undefined || nextStep.dueAt > now || isCovered()) return false
    if (snoozedUntil > now) {
      incident.nextStep = { ...nextStep, dueAt: snoozedUntil }
      return false
    }
    incident.steps++
    for (const channel of policy.steps[nextStep.index]?.channels ?? []) {
      send(incident, channel, true)
    }
    const from = now - nextStep.dueAt > lateMs ? now : nextStep.dueAt
    const following = policy.steps[nextStep.index + 1]
    incident.nextStep =
      following !== undefined
        ? {
            index: nextStep.index + 1,
            round: nextStep.round,
            dueAt: from + following.afterSeconds * 1_000
          }
        : nextStep.round < policy.repeatCount
          ? {
              index: 0,
              round: nextStep.round + 1,
              dueAt: from + policy.repeatAfterSeconds * 1_000
            }
          : undefined
    return true
  }

  const fail = (subject: Subject) => {
    const known = open(subject)
    if (isCovered()) return void (known === undefined && withheld.add(subject))
    if (known !== undefined) return known.isAnnounced ? undefined : decide(known)
    withheld.delete(subject)
    const incident: Incident = {
      subject,
      openedAt: now,
      closedAt: undefined,
      isAcknowledged: false,
      snoozedUntil: 0,
      remindAt: undefined,
      isSuppressed: false,
      holdUntil: undefined,
      isAnnounced: false,
      notified: new Set(),
      nextStep: undefined,
      steps: 0
    }
    incidents.push(incident)
    decide(incident)
  }

  const end = (subject: Subject, isAnnounced: boolean) => {
    withheld.delete(subject)
    const incident = open(subject)
    if (incident === undefined) return
    incident.closedAt = now
    incident.nextStep = undefined
    if (!isAnnounced) return
    for (const channel of recipientsOf(incident, true)) {
      messages.push(`${channel} ${subject}: ${words[subject].ended}`)
    }
  }

  /** The notified channels that the rules still refer to. */
  const recipientsOf = ({ notified }: Incident, withSteps: boolean): ReadonlyArray<Channel> => {
    const named = new Set<Channel>(["main"])
    if (withSteps)
      for (const { channels } of policy.steps) channels.forEach((one) => named.add(one))
    return [...notified].filter((channel) => named.has(channel))
  }

  /** While the policy has steps left, its channels get no reminders. */
  const remind = (incident: Incident, hasStepsLeft: boolean) => {
    if (incident.closedAt !== undefined || incident.remindAt === undefined) return
    if (incident.remindAt > now) return
    incident.remindAt = now + remindMs
    if (isCovered() || incident.snoozedUntil > now || incident.isAcknowledged) return
    for (const channel of recipientsOf(incident, !hasStepsLeft)) send(incident, channel, false)
  }

  /** Decides again about incidents whose messages may no longer have to wait. */
  const release = (incident: Incident) => {
    const { closedAt, holdUntil, isAnnounced, subject } = incident
    if (closedAt !== undefined || isAnnounced || isCovered()) return
    const isBelow = hasSuppressor(subject)
    const isDue = holdUntil === undefined ? !isBelow : isBelow || holdUntil <= now
    if (isDue) decide(incident)
  }

  return {
    messages,
    monitorStatus: (subject: MonitorSubject) => status[subject],
    dependsOn: (subject: Subject) => dependsOn[subject],
    hasOpen: (subject: Subject) => open(subject) !== undefined,
    hasWindow: () => window !== undefined,
    incidents: () =>
      incidents
        .toSorted((one, other) => one.openedAt - other.openedAt)
        .map(({ closedAt, isAcknowledged, isSuppressed, openedAt, steps, subject }) =>
          [
            subject,
            openedAt - start,
            closedAt === undefined ? "open" : closedAt - start,
            isAcknowledged ? "acknowledged" : "",
            isSuppressed ? "suppressed" : "",
            `${steps} steps`
          ].join(" ")
        ),
    apply: (action: Action) => {
      switch (action.type) {
        case "status": {
          const { subject } = action
          const before = status[subject]
          status[subject] = action.to
          if (action.to === "down") fail(subject)
          else if (before === "down") end(subject, action.to === "up")
          return
        }
        case "run":
          failures = action.fails ? failures + 1 : 0
          if (!action.fails) end("task", true)
          else if (failures >= threshold) fail("task")
          return
        case "acknowledge": {
          const incident = open(action.subject)
          if (incident === undefined) return
          incident.isAcknowledged = true
          incident.remindAt = undefined
          incident.nextStep = undefined
          return
        }
        case "snooze": {
          const incident = open(action.subject)
          if (incident === undefined) return
          const until = now + action.ms
          const { isAcknowledged, nextStep, snoozedUntil } = incident
          incident.snoozedUntil = until
          if (isAcknowledged) return
          incident.remindAt = until
          if (nextStep === undefined) return
          const { dueAt } = nextStep
          incident.nextStep = {
            ...nextStep,
            dueAt: dueAt === snoozedUntil ? until : Math.max(dueAt, action.ms === 0 ? 0 : until)
          }
          return
        }
        case "close":
          end(action.subject, false)
          if (action.subject === "task") failures = 0
          return
        case "begin":
          window = { endsAt: now + action.ms }
          return
        case "end":
          window = undefined
          return
        case "policy":
          policy = action.policy
          return
        case "depend":
          dependsOn[action.subject] = action.on
          return
        case "wait":
          now += action.ms
          return
      }
    },
    /**
     * The number of milliseconds until any incident's next step can be taken: when it is due or, if it
     * is overdue, when the maintenance that withholds it ends. Undefined if there is none.
     */
    nextStepInMs: (): number | undefined => {
      const times = incidents.flatMap(({ nextStep }) => nextStep?.dueAt ?? [])
      const ends = window !== undefined && times.some((at) => at <= now) ? [window.endsAt] : []
      const future = [...times, ...ends].filter((at) => at > now)
      return future.length === 0 ? undefined : Math.min(...future) - now
    },
    /** Does everything that follows from an action without further input. */
    settle: () => {
      if (!isCovered()) for (const subject of subjects) if (withheld.has(subject)) fail(subject)
      for (const incident of incidents) release(incident)
      for (const incident of incidents) {
        const hasStepsLeft = incident.nextStep !== undefined
        while (escalate(incident));
        remind(incident, hasStepsLeft)
      }
    }
  }
}

export type Model = ReturnType<typeof makeModel>

/** A small random number generator that repeats its numbers for the same seed. */
export const randomNumbers = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const randomPolicy = (random: (below: number) => number): Policy => ({
  steps: Array.from({ length: 1 + random(3) }, () => ({
    afterSeconds: [0, 1, 90, 290, 1_130][random(5)] ?? 0,
    channels: [["first"], ["second"], ["first", "second"]][random(3)] as ReadonlyArray<StepChannel>
  })),
  repeatCount: random(3),
  repeatAfterSeconds: [310, 1_790][random(2)] ?? 310
})

export const firstPolicy = (seed: number): Policy => randomPolicy(randomNumbers(-seed))

/** Random actions that are possible in the model's current state. The caller changes the model. */
export function* randomActions(seed: number, count: number, model: Model): Generator<Action> {
  const random = randomNumbers(seed)
  for (let index = 0; index < count; index++) {
    const possible = possibleActions(model, random).flatMap(([weight, action]) =>
      Array.from({ length: weight }, () => action)
    )
    const chosen = possible[random(possible.length)]
    if (chosen !== undefined) yield chosen()
  }
}

/** Returns the possible actions, each with its weight. */
const possibleActions = (
  model: Model,
  random: (below: number) => number
): ReadonlyArray<readonly [number, () => Action]> => {
  const pick = <A>(all: ReadonlyArray<A>): A => all[random(all.length)] as A
  const spans = [7, 31, 67, 130, 300].map((minutes) => minutes * minute)
  const open = subjects.filter(model.hasOpen)
  const subject = pick(["site", "monitor"] as const)
  const status = model.monitorStatus(subject)
  const dependent = pick(["task", "monitor"] as const)
  const onOpen: ReadonlyArray<readonly [number, () => Action]> = [
    [1, () => ({ type: "acknowledge", subject: pick(open) })],
    [3, () => ({ type: "snooze", subject: pick(open), ms: pick([0, 0, ...spans]) })],
    [1, () => ({ type: "close", subject: pick(open) })]
  ]
  return [
    [2, () => ({ type: "wait", ms: pick(spans) })],
    [2, () => ({ type: "wait", ms: pick([10_000, 40_000]) })],
    [1, () => ({ type: "policy", policy: randomPolicy(random) })],
    [3, () => ({ type: "run", fails: random(4) > 0 })],
    [
      1,
      () => ({
        type: "depend",
        subject: dependent,
        on: subjects.slice(0, subjects.indexOf(dependent)).filter(() => random(2) === 0)
      })
    ],
    status === "paused"
      ? [2, () => ({ type: "status", subject, to: "new" })]
      : [4, () => ({ type: "status", subject, to: status === "down" ? "up" : "down" })],
    [status === "paused" ? 0 : 1, () => ({ type: "status", subject, to: "paused" })],
    model.hasWindow()
      ? [3, () => ({ type: "end" })]
      : [
          1,
          () => ({
            type: "begin",
            ms: pick([45_000, 75_000, ...spans]),
            tagged: random(2) === 0
          })
        ],
    ...(open.length === 0 ? [] : onOpen)
  ]
}
