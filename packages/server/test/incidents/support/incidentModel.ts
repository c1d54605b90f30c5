/**
 * A plain model of incidents: what opens and closes one, and who is sent a message when. It knows
 * nothing of outboxes, problems and deliveries.
 */

export type Subject = "monitor" | "task"
type Status = "down" | "new" | "paused" | "up"

export type Action =
  | { readonly type: "status"; readonly to: Status }
  | { readonly type: "run"; readonly fails: boolean }
  | { readonly type: "acknowledge" | "close"; readonly subject: Subject }
  | { readonly type: "snooze"; readonly subject: Subject; readonly ms: number }
  | { readonly type: "begin"; readonly ms: number; readonly tagged: boolean }
  | { readonly type: "end" }
  | { readonly type: "wait"; readonly ms: number }

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
}

const words = {
  monitor: { begun: "incident.opened", ended: "incident.closed" },
  task: { begun: "execution.failed", ended: "task.recovered" }
} as const

export const makeModel = (start: number) => {
  let now = start
  let status: Status = "new"
  let failures = 0
  let window: { readonly endsAt: number } | undefined
  const incidents: Array<Incident> = []
  const messages: Array<string> = []
  const open = (subject: Subject) =>
    incidents.find((one) => one.subject === subject && one.closedAt === undefined)
  /** Subjects that fail, and whose incident waits for the end of the maintenance. */
  const withheld = new Set<Subject>()
  const isCovered = () => window !== undefined && window.endsAt > now

  const fail = (subject: Subject) => {
    if (isCovered()) return void withheld.add(subject)
    withheld.delete(subject)
    incidents.push({
      subject,
      openedAt: now,
      closedAt: undefined,
      isAcknowledged: false,
      snoozedUntil: 0,
      remindAt: now + remindMs
    })
    messages.push(`${subject}: ${words[subject].begun}`)
  }

  const end = (subject: Subject, isAnnounced: boolean) => {
    withheld.delete(subject)
    const incident = open(subject)
    if (incident === undefined) return
    incident.closedAt = now
    if (isAnnounced) messages.push(`${subject}: ${words[subject].ended}`)
  }

  const remind = (incident: Incident) => {
    if (incident.closedAt !== undefined || incident.remindAt === undefined) return
    if (incident.remindAt > now) return
    incident.remindAt = now + remindMs
    if (isCovered() || incident.snoozedUntil > now) return
    messages.push(`${incident.subject}: ${words[incident.subject].begun} again`)
  }

  return {
    messages,
    monitorStatus: () => status,
    hasOpen: (subject: Subject) => open(subject) !== undefined,
    hasWindow: () => window !== undefined,
    incidents: () =>
      incidents
        .toSorted((one, other) => one.openedAt - other.openedAt)
        .map(({ closedAt, isAcknowledged, openedAt, subject }) =>
          [
            subject,
            openedAt - start,
            closedAt === undefined ? "open" : closedAt - start,
            isAcknowledged ? "acknowledged" : ""
          ].join(" ")
        ),
    apply: (action: Action) => {
      switch (action.type) {
        case "status": {
          const before = status
          status = action.to
          if (action.to === "down") fail("monitor")
          else if (before === "down") end("monitor", action.to === "up")
          return
        }
        case "run":
          failures = action.fails ? failures + 1 : 0
          if (!action.fails) end("task", true)
          else if (failures >= threshold && open("task") === undefined) fail("task")
          return
        case "acknowledge": {
          const incident = open(action.subject)
          if (incident === undefined) return
          incident.isAcknowledged = true
          incident.remindAt = undefined
          return
        }
        case "snooze": {
          const incident = open(action.subject)
          if (incident === undefined) return
          incident.snoozedUntil = now + action.ms
          if (!incident.isAcknowledged) incident.remindAt = now + action.ms
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
        case "wait":
          now += action.ms
          return
      }
    },
    /** What happens by itself once an action is done. */
    settle: () => {
      if (!isCovered())
        for (const subject of ["monitor", "task"] as const) {
          if (withheld.has(subject)) fail(subject)
        }
      for (const incident of incidents) remind(incident)
    }
  }
}

export type Model = ReturnType<typeof makeModel>

/** A small generator of random numbers that a seed repeats. */
const numbersOf = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Actions that are possible in the state of the model, which the caller moves on. */
export function* randomActions(
  seed: number,
  count: number,
  model: Model
): Generator<{ readonly action: Action; readonly isKilled: boolean }> {
  const random = numbersOf(seed)
  const pick = <A>(all: ReadonlyArray<A>): A => all[random(all.length)] as A
  const spans = [7, 31, 67, 130, 300].map((minutes) => minutes * minute)
  for (let index = 0; index < count; index++) {
    const status = model.monitorStatus()
    const open = (["monitor", "task"] as const).filter(model.hasOpen)
    const possible: ReadonlyArray<() => Action> = [
      () => ({ type: "wait", ms: pick(spans) }),
      () => ({ type: "wait", ms: pick(spans) }),
      () => ({ type: "run", fails: random(3) > 0 }),
      () => ({ type: "run", fails: random(3) > 0 }),
      ...(status === "paused"
        ? [() => ({ type: "status", to: "new" }) as const]
        : [
            () => ({ type: "status", to: status === "down" ? "up" : "down" }) as const,
            () => ({ type: "status", to: status === "down" ? "up" : "down" }) as const,
            () => ({ type: "status", to: "paused" }) as const
          ]),
      ...(open.length === 0
        ? []
        : [
            () => ({ type: "acknowledge", subject: pick(open) }) as const,
            () => ({ type: "snooze", subject: pick(open), ms: pick(spans) }) as const,
            () => ({ type: "close", subject: pick(open) }) as const
          ]),
      model.hasWindow()
        ? () => ({ type: "end" }) as const
        : () => ({ type: "begin", ms: pick(spans), tagged: random(2) === 0 }) as const
    ]
    yield { action: pick(possible)(), isKilled: random(4) === 0 }
  }
}
