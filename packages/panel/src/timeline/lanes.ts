import type {
  ActivityLane,
  ActivityPause,
  ActivityTimeline,
  AuditEvent,
  Incident,
  Monitor,
  NotificationDelivery,
  Queue,
  Worker
} from "@scheduling/sdk"
import { actorName } from "../data/names.ts"
import type { NamesById } from "../data/nameLookup.ts"

/** The kinds of marks, in drawing order. */
export const markKinds = [
  "planned",
  "succeeded",
  "other",
  "running",
  "failed",
  "incident",
  "notification",
  "change"
] as const
export type MarkKind = (typeof markKinds)[number]

/**
 * The marks of one kind in one lane, sorted by their start. They are stored in typed arrays,
 * because each frame reads thousands of marks.
 */
export interface Marks {
  readonly from: Float64Array
  readonly to: Float64Array
  readonly count: Uint32Array
}

/** A period in which a record was paused. */
export interface Pause {
  /** -Infinity if unknown. */
  readonly from: number
  /** Infinity if the record is still paused. */
  readonly to: number
  /** The name of who paused the record. Undefined if unknown. */
  readonly by: string | undefined
  /** Why the service paused the record. Null if it did not. */
  readonly reason: string | null
}

export interface Lane {
  readonly key: string
  readonly name: string
  /** The record's first tag, or its kind if it has no tags. */
  readonly group: string
  /** The path of the record's page within the workspace. Undefined if it has no page. */
  readonly path: string | undefined
  /**
   * The task's id, used to filter lists of executions. Absent if the lane does not represent a
   * task.
   */
  readonly taskId?: string
  readonly marks: Readonly<Partial<Record<MarkKind, Marks>>>
  /** Earliest first. */
  readonly pauses: ReadonlyArray<Pause>
  /** True if the task is failing now, the monitor is down or an incident is open. */
  readonly hasProblem: boolean
}

export interface LaneSources {
  readonly timeline: ActivityTimeline
  readonly monitors: ReadonlyArray<Monitor>
  readonly incidents: ReadonlyArray<Incident>
  readonly queues: ReadonlyArray<Queue>
  readonly workers: ReadonlyArray<Worker>
  readonly changes: ReadonlyArray<AuditEvent>
  readonly deliveries: ReadonlyArray<NotificationDelivery>
  /** The ids of the records that have a problem now. */
  readonly problems: ReadonlySet<string>
  /** The names of the members, by user id. */
  readonly names: NamesById
}

/**
 * Returns all lanes: first changes and notifications, then the others by group. In a group, records
 * that have a problem come first, and lanes are sorted by name otherwise.
 */
export const lanesOf = (sources: LaneSources): ReadonlyArray<Lane> => {
  const { names, problems } = sources
  const now = Date.parse(sources.timeline.now)
  const incidents = Map.groupBy(sources.incidents, ({ subject }) => subject.id)
  const changes = Map.groupBy(sources.changes, ({ subject_id }) => subject_id ?? "")
  const pauses = Map.groupBy(sources.timeline.pauses, ({ subject_id }) => subject_id)
  const about: About = (id, isPaused, runs = {}) => ({
    key: id,
    marks: {
      ...runs,
      ...spans("incident", incidents.get(id) ?? [], now),
      ...points("change", changes.get(id) ?? [])
    },
    pauses: pausesOf(pauses.get(id) ?? [], isPaused, names),
    hasProblem: problems.has(id)
  })
  const lanes = [
    ...taskLanes(sources.timeline, about),
    ...sources.monitors.map(({ id, kind, name, status, tags }): Lane => ({
      name,
      group: tags[0] ?? "Monitors",
      path: `/monitors/${kind}/${id}`,
      ...about(id, status === "paused")
    })),
    ...queueLanes(sources, about),
    ...workerLanes(sources, about)
  ]
  return [
    ...unlessEmpty({
      name: "Changes",
      group: "Events",
      path: "/audit",
      marks: points("change", sources.changes)
    }),
    ...unlessEmpty({
      name: "Notifications",
      group: "Events",
      path: "/notifications",
      marks: points("notification", sources.deliveries)
    }),
    ...lanes.toSorted(
      (one, other) =>
        compare(one.group, other.group) ||
        Number(other.hasProblem) - Number(one.hasProblem) ||
        compare(one.name, other.name)
    )
  ]
}

/** True if a run failed or an incident was open in the lane between two times. */
export const hasProblemBetween = ({ marks }: Lane, from: number, to: number): boolean =>
  countBetween(marks.failed, from, to) + countBetween(marks.incident, from, to) > 0

/** Returns the number of runs or events between two times. A mark can represent several. */
export const countBetween = (marks: Marks | undefined, from: number, to: number): number => {
  if (marks === undefined) return 0
  let total = 0
  for (let index = firstIndexEndingAfter(marks, from); index < marks.from.length; index++) {
    if ((marks.from[index] ?? 0) >= to) break
    total += marks.count[index] ?? 0
  }
  return total
}

/**
 * Returns the index of the first mark that ends after the time. Assumes that the ends are sorted
 * too, which is nearly true because marks overlap little.
 */
export const firstIndexEndingAfter = ({ to }: Marks, at: number): number => {
  let low = 0
  let high = to.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((to[middle] ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return low
}

/** A collator is several times faster than `localeCompare`. */
const { compare } = new Intl.Collator()

/** Returns what a record's lane shows besides its name and its group. */
type About = (
  id: string,
  isPaused: boolean,
  runs?: Lane["marks"]
) => Pick<Lane, "hasProblem" | "key" | "marks" | "pauses">

const runKinds = ["planned", "succeeded", "other", "running", "failed"] as const
type Runs = Pick<ActivityLane, "failed" | "other" | "succeeded"> & Partial<ActivityLane>

const taskLanes = (timeline: ActivityTimeline, about: About): ReadonlyArray<Lane> =>
  timeline.lanes.flatMap((lane): ReadonlyArray<Lane> => {
    const marks = marksOfLane(timeline, lane)
    if (lane.kind === "other" || lane.task_id === null) {
      return unlessEmpty({
        name: "Delayed and deleted tasks",
        group: "Other",
        path: undefined,
        marks
      })
    }
    return [
      {
        name: lane.name ?? "",
        group: lane.tags[0] ?? (lane.kind === "cron" ? "Cron tasks" : "Chains"),
        path: `/${lane.kind === "cron" ? "cron" : "chains"}/${lane.task_id}`,
        taskId: lane.task_id,
        ...about(lane.task_id, lane.paused, marks)
      }
    ]
  })

const queueLanes = ({ queues, timeline }: LaneSources, about: About): ReadonlyArray<Lane> => {
  const byQueue = Map.groupBy(timeline.lanes, ({ queue_id }) => queue_id)
  return queues.map(({ id, name, paused, tags }) => ({
    name,
    group: tags[0] ?? "Queues",
    path: "/queues",
    ...about(id, paused, runMarks(timeline, byQueue.get(id) ?? []))
  }))
}

const workerLanes = ({ timeline, workers }: LaneSources, about: About): ReadonlyArray<Lane> => {
  const byWorker = Map.groupBy(timeline.workers, ({ worker_id }) => worker_id)
  return workers.map(({ id, name, status }) => ({
    name,
    group: "Workers",
    path: `/workers/${id}`,
    ...about(id, status === "paused", runMarks(timeline, byWorker.get(id) ?? []))
  }))
}

/** Omits the lane if it has no marks. Used for lanes that do not represent a record. */
const unlessEmpty = (lane: Omit<Lane, "hasProblem" | "key" | "pauses">): ReadonlyArray<Lane> =>
  Object.keys(lane.marks).length === 0
    ? []
    : [{ ...lane, key: lane.name, pauses: [], hasProblem: false }]

/**
 * Returns the pauses of a record. A record can have been paused longer than the audit log goes back,
 * so its current state is passed too.
 */
const pausesOf = (
  recorded: ReadonlyArray<ActivityPause>,
  isPaused: boolean,
  names: NamesById
): ReadonlyArray<Pause> => {
  const pauses = recorded.map(({ paused_at, paused_by, reason, resumed_at }) => ({
    from: Date.parse(paused_at),
    to: resumed_at === null ? Infinity : Date.parse(resumed_at),
    by: paused_by === null ? undefined : actorName(paused_by, names),
    reason
  }))
  const last = pauses.at(-1)?.to ?? -Infinity
  return isPaused && last < Infinity
    ? [...pauses, { from: last, to: Infinity, by: undefined, reason: null }]
    : pauses
}

/**
 * The marks by the runs that they were created from. A refetch keeps the objects of lanes that have
 * not changed.
 */
const known = new WeakMap<Runs, readonly [period: string, marks: Lane["marks"]]>()

const marksOfLane = (timeline: ActivityTimeline, lane: Runs): Lane["marks"] => {
  const period = `${timeline.from}/${timeline.bucket_seconds}`
  const cached = known.get(lane)
  if (cached?.[0] === period) return cached[1]
  const marks = runMarks(timeline, [lane])
  known.set(lane, [period, marks])
  return marks
}

const runMarks = (
  { bucket_seconds, from }: ActivityTimeline,
  all: ReadonlyArray<Runs>
): Lane["marks"] => {
  const length = bucket_seconds * 1_000
  const start = Date.parse(from)
  return Object.fromEntries(
    runKinds.flatMap((kind) => {
      const [only] = all
      if (only !== undefined && all.length === 1) {
        const pairs = only[kind] ?? []
        return pairs.length === 0 ? [] : [[kind, marksOfPairs(pairs, start, length)]]
      }
      const counts = new Map<number, number>()
      for (const { [kind]: pairs = [] } of all) {
        for (let index = 0; index < pairs.length; index += 2) {
          const bucket = pairs[index] ?? 0
          counts.set(bucket, (counts.get(bucket) ?? 0) + (pairs[index + 1] ?? 0))
        }
      }
      if (counts.size === 0) return []
      const sorted = [...counts].toSorted(([a], [b]) => a - b)
      return [[kind, marksOfPairs(sorted.flat(), start, length)]]
    })
  )
}

const marksOfPairs = (pairs: ReadonlyArray<number>, start: number, length: number): Marks => {
  const size = pairs.length / 2
  const marks = {
    from: new Float64Array(size),
    to: new Float64Array(size),
    count: new Uint32Array(size)
  }
  for (let index = 0; index < size; index++) {
    const from = start + (pairs[2 * index] ?? 0) * length
    marks.from[index] = from
    marks.to[index] = from + length
    marks.count[index] = pairs[2 * index + 1] ?? 0
  }
  return marks
}

const points = (
  kind: MarkKind,
  all: ReadonlyArray<{ readonly created_at: string }>
): Lane["marks"] =>
  marksAt(
    kind,
    all.map(({ created_at }) => [Date.parse(created_at), Date.parse(created_at)])
  )

const spans = (kind: MarkKind, all: ReadonlyArray<Incident>, now: number): Lane["marks"] =>
  marksAt(
    kind,
    all.map(({ closed_at, opened_at }) => [
      Date.parse(opened_at),
      closed_at === null ? now : Date.parse(closed_at)
    ])
  )

const marksAt = (
  kind: MarkKind,
  times: ReadonlyArray<readonly [number, number]>
): Lane["marks"] => {
  if (times.length === 0) return {}
  const sorted = times.toSorted(([one], [other]) => one - other)
  return {
    [kind]: {
      from: Float64Array.from(sorted, ([from]) => from),
      to: Float64Array.from(sorted, ([, to]) => to),
      count: new Uint32Array(sorted.length).fill(1)
    }
  }
}
