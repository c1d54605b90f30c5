import { definitionFields } from "@scheduling/domain/definitions/definitionFields"

/** Returns a random number generator that repeats its numbers if given the same seed. */
export const seededRandom = (seed: number) => {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (bound: number) => Math.floor(next() * bound)
  const pick = <A>(values: ReadonlyArray<A>): A => values[below(values.length)] as A
  return { next, below, pick, maybe: (fields: object) => (next() < 0.5 ? fields : {}) }
}

export type Random = ReturnType<typeof seededRandom>

/** The records that definitions refer to. */
export interface References {
  readonly queues: ReadonlyArray<string>
  readonly worker: string
}

const call = (random: Random) => ({
  url: `http://example.com/${random.below(5)}`,
  ...random.maybe({ method: random.pick(["POST", "PUT"]) }),
  ...random.maybe({
    headers: { authorization: `Bearer secret${random.below(1000)}`, a: `${random.below(3)}` }
  }),
  ...random.maybe({ body: random.pick(["{}", "x".repeat(10_000)]) }),
  ...random.maybe({ timeout_seconds: 1 + random.below(30) }),
  ...random.maybe({ retry: random.pick([null, { count: 2, first_seconds: 7 }]) }),
  ...random.maybe({ success_codes: random.pick([null, ["200-299"]]) })
})

const common = (random: Random, { queues }: References) => ({
  name: `Task ${random.below(10)}`,
  ...random.maybe({ tags: random.pick([[], ["a"], ["a", "b"]]) }),
  ...random.maybe({ queue_id: random.pick([null, ...queues]) }),
  ...random.maybe({ priority: random.pick([-100, 0, 5]) })
})

const firing = (random: Random) => ({
  ...random.maybe({ timezone: random.pick(["UTC", "Europe/Berlin"]) }),
  ...random.maybe({ overlap: random.pick(["allow", "skip", "queue"]) }),
  ...random.maybe({ jitter_seconds: random.below(3) }),
  ...random.maybe({ excluded_days: random.pick([[], ["2026-12-24"]]) }),
  ...random.maybe({
    on_failure: random.pick([null, { url: "http://example.com/failed" }])
  })
})

const named = (random: Random) => ({
  name: `Monitor ${random.below(10)}`,
  ...random.maybe({ tags: random.pick([[], ["a"]]) })
})

export interface RecordKind {
  /** The kind that the audit log uses for these records. */
  readonly kind: string
  /** The path below the workspace. */
  readonly path: string
  readonly fields: ReadonlyArray<string>
  readonly define: (random: Random, references: References) => object
  readonly pauses: boolean
  /** True if one request can create many records. */
  readonly batches?: boolean
}

const schedules = ["0 3 * * *", "*/5 * * * *", "30 9 * * MON-FRI"]

/** The kinds of records that the audit tests create and change. */
export const recordKinds: ReadonlyArray<RecordKind> = [
  {
    kind: "cron_task",
    path: "cron",
    fields: definitionFields("cron"),
    define: (random, references) => ({
      ...common(random, references),
      ...call(random),
      ...firing(random),
      schedule: random.pick(schedules)
    }),
    pauses: true,
    batches: true
  },
  {
    kind: "delayed_task",
    path: "delayed",
    fields: definitionFields("delayed"),
    define: (random, references) => ({
      ...common(random, references),
      ...call(random),
      run_at: `2026-09-0${1 + random.below(9)}T00:00:00Z`
    }),
    pauses: false,
    batches: true
  },
  {
    kind: "chain",
    path: "chains",
    fields: definitionFields("chain"),
    define: (random, references) => ({
      ...common(random, references),
      ...firing(random),
      schedule: random.pick([null, ...schedules]),
      steps: ["one", "two", "three"]
        .slice(0, 1 + random.below(3))
        .map((name) => ({ name, ...call(random) }))
    }),
    pauses: true,
    batches: true
  },
  {
    kind: "queue",
    path: "queues",
    fields: definitionFields("queue"),
    define: (random) => ({
      name: `Queue ${random.below(10)}`,
      max_concurrency: 1 + random.below(3),
      ...random.maybe({ rate_per_second: random.pick([null, 2]) })
    }),
    pauses: true
  },
  {
    kind: "monitor",
    path: "monitors/heartbeat",
    fields: definitionFields("heartbeat"),
    define: (random) => ({
      ...named(random),
      ...random.pick([
        { period_seconds: 3600 * (1 + random.below(3)) },
        { schedule: random.pick(schedules), timezone: "Europe/Berlin" }
      ]),
      ...random.maybe({ grace_seconds: 60 + random.below(3) })
    }),
    pauses: true
  },
  {
    kind: "monitor",
    path: "monitors/ssl",
    fields: definitionFields("ssl"),
    define: (random) => ({
      ...named(random),
      host: `www${random.below(3)}.example.com`,
      ...random.maybe({ warn_days: random.pick([[7], [30, 7]]) })
    }),
    pauses: true
  },
  {
    kind: "monitor",
    path: "monitors/process",
    fields: definitionFields("process"),
    define: (random, { worker }) => ({
      ...named(random),
      worker_id: worker,
      match: { name: random.pick(["postgres", "nginx"]) }
    }),
    pauses: true
  },
  {
    kind: "monitor",
    path: "monitors/http",
    fields: definitionFields("http"),
    define: (random) => ({
      ...named(random),
      url: `https://www${random.below(3)}.example.com/health`,
      ...random.maybe({ headers: { authorization: `Bearer secret${random.below(1000)}` } }),
      ...random.maybe({ confirm_after: 1 + random.below(3) }),
      ...random.maybe({
        places: random.pick([
          null,
          [{ labels: ["a"] }],
          [{ labels: ["b", "c"] }, { labels: ["a"] }]
        ]),
        down_when: random.pick(["any", "majority", "all"])
      })
    }),
    pauses: true
  },
  {
    kind: "notification_channel",
    path: "notifications/channels",
    fields: definitionFields("notification_channel"),
    define: (random) => ({
      name: `Channel ${random.below(10)}`,
      kind: "slack",
      config: { url: `https://hooks.slack.com/services/T/B/secret${random.below(1000)}` }
    }),
    pauses: false
  }
]
