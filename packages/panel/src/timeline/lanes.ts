import type {
  ActivityLane,
  ActivityTimeline,
  AuditEvent,
  Incident,
  Monitor,
  NotificationDelivery,
  Queue,
  Worker
} from "@scheduling/sdk"

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
}

export interface LaneSources {
  readonly timeline: ActivityTimeline
  readonly monitors: ReadonlyArray<Monitor>
  readonly incidents: ReadonlyArray<Incident>
  readonly queues: ReadonlyArray<Queue>
  readonly workers: ReadonlyArray<Worker>
  readonly changes: ReadonlyArray<AuditEvent>
  readonly deliveries: ReadonlyArray<NotificationDelivery>
}

/** Returns all lanes: first changes and notifications, then the others by group and name. */
export const lanesOf = (sources: LaneSources): ReadonlyArray<Lane> => {
  const now = Date.parse(sources.timeline.now)
  const incidents = Map.groupBy(sources.incidents, ({ subject }) => subject.id)
  const changes = Map.groupBy(sources.changes, ({ subject_id }) => subject_id ?? "")
  const about = (id: string) => ({
    ...spans("incident", incidents.get(id) ?? [], now),
    ...points("change", changes.get(id) ?? [])
  })
  const lanes = [
    ...taskLanes(sources.timeline, about),
    ...sources.monitors.map(({ id, kind, name, tags }): Lane => ({
      key: id,
      name,
      group: tags[0] ?? "Monitors",
      path: `/monitors/${kind}/${id}`,
      marks: about(id)
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
      (one, other) => compare(one.group, other.group) || compare(one.name, other.name)
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

type About = (id: string) => Lane["marks"]

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
        key: lane.task_id,
        name: lane.name ?? "",
        group: lane.tags[0] ?? (lane.kind === "cron" ? "Cron tasks" : "Chains"),
        path: `/${lane.kind === "cron" ? "cron" : "chains"}/${lane.task_id}`,
        taskId: lane.task_id,
        marks: { ...marks, ...about(lane.task_id) }
      }
    ]
  })

const queueLanes = ({ queues, timeline }: LaneSources, about: About): ReadonlyArray<Lane> => {
  const byQueue = Map.groupBy(timeline.lanes, ({ queue_id }) => queue_id)
  return queues.map(({ id, name, tags }) => ({
    key: id,
    name,
    group: tags[0] ?? "Queues",
    path: "/queues",
    marks: { ...runMarks(timeline, byQueue.get(id) ?? []), ...about(id) }
  }))
}

const workerLanes = ({ timeline, workers }: LaneSources, about: About): ReadonlyArray<Lane> => {
  const byWorker = Map.groupBy(timeline.workers, ({ worker_id }) => worker_id)
  return workers.map(({ id, name }) => ({
    key: id,
    name,
    group: "Workers",
    path: `/workers/${id}`,
    marks: { ...runMarks(timeline, byWorker.get(id) ?? []), ...about(id) }
  }))
}

/** Omits the lane if it has no marks. Used for lanes that do not represent a record. */
const unlessEmpty = (lane: Omit<Lane, "key">): ReadonlyArray<Lane> =>
  Object.keys(lane.marks).length === 0 ? [] : [{ ...lane, key: lane.name }]

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
