import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fs from "node:fs"
import { type Node, startFixture } from "./fixture/Fixture.ts"
import { type QueryDatabase, startPostgres, postgresStore } from "./fixture/Store.ts"
import { startStream } from "./stream.ts"
import { tableOf } from "./table.ts"
import { median } from "../timing/statistics.ts"

/** Sizes that must not grow under constant load, except for the history's size. */
interface Sample {
  readonly minute: number
  readonly memoryMb: ReadonlyArray<number>
  readonly handles: ReadonlyArray<number>
  readonly connections: number
  readonly queued: number
  readonly queueMb: number
  readonly nodes: number
  readonly executions: number
  readonly historyMb: number
  readonly lag: number
}

const samplesTaken = 18

/**
 * Applies the drills' load for a long time without faults. Prints the nodes' memory and the tables'
 * sizes. `clients` write without pauses, and `perSecond` is the number of additional due runs per
 * second.
 */
export const soakDrill = Effect.fnUntraced(function* (options: {
  readonly minutes: number
  readonly clients: number | undefined
  readonly perSecond: number
}) {
  const { clients, minutes, perSecond } = options
  const { url } = yield* startPostgres
  const store = postgresStore(url)
  const fixture = yield* startFixture({ nodes: [store, store], ask: store.ask })
  const load = yield* fixture.load(clients === undefined ? {} : { clients, pauseMs: 0 })
  const stream = yield* startStream({ node: fixture.nodes[0], databaseUrl: url, perSecond })
  const startedMs = performance.now()
  const samples: Array<Sample> = []

  yield* print(header)
  for (let n = 1; n <= samplesTaken; n++) {
    const dueMs = startedMs + (n / samplesTaken) * minutes * 60_000
    yield* Effect.sleep(Math.max(0, dueMs - performance.now()))
    const sample = yield* take(fixture.nodes, store.ask, (performance.now() - startedMs) / 60_000)
    samples.push(sample)
    yield* print(rowOf(sample))
  }
  const wrong = yield* stream.verify
  const seconds = yield* fixture.recovered(fixture.nodes)
  yield* print("")
  return yield* fixture.finish({
    load,
    alive: fixture.nodes,
    inFlight: 0,
    recovery: { seconds, withinSeconds: 5 },
    broken: [...wrong, ...growth(samples), ...behind(samples)],
    notes: [
      `${minutes} min of constant load on two nodes, of which the first third is a warm-up`,
      `${stream.made()} additional runs, ${perSecond} per second`
    ]
  })
})

const print = (line: string) => Effect.sync(() => console.log(line))

const { header, row } = tableOf([
  ["minute", 6],
  ["memory MB", 11],
  ["handles", 9],
  ["connections", 11],
  ["queued", 6],
  ["queue MB", 8],
  ["nodes", 5],
  ["executions", 10],
  ["history MB", 10],
  ["statistics lag s", 19]
])

const rowOf = (sample: Sample): string =>
  row([
    sample.minute.toFixed(1),
    sample.memoryMb.map((mb) => mb.toFixed(0)).join(" "),
    sample.handles.join(" "),
    String(sample.connections),
    String(sample.queued),
    sample.queueMb.toFixed(1),
    String(sample.nodes),
    String(sample.executions),
    sample.historyMb.toFixed(1),
    String(sample.lag)
  ])

const take = Effect.fnUntraced(function* (
  nodes: ReadonlyArray<Node>,
  ask: QueryDatabase,
  minute: number
) {
  const sample: Sample = {
    minute,
    memoryMb: nodes.map(({ pid }) => residentMb(pid)),
    handles: nodes.map(({ pid }) => fs.readdirSync(`/proc/${pid}/fd`).length),
    ...(yield* ask(tables))
  }
  return sample
})

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Omit<Sample, "minute" | "memoryMb" | "handles">>`
    SELECT
      (
        SELECT count(*)::int
        FROM pg_stat_activity
        WHERE usename = current_user
          AND pid <> pg_backend_pid()
      ) AS connections,
      (SELECT count(*)::int FROM runs) AS queued,
      pg_total_relation_size('runs') / 1048576.0::float8 AS "queueMb",
      (SELECT count(*)::int FROM nodes) AS nodes,
      (SELECT count(*)::int FROM executions) AS executions,
      (
        SELECT sum(pg_total_relation_size(inhrelid)) / 1048576.0::float8
        FROM pg_inherits
        WHERE inhparent IN ('executions'::regclass, 'earlier_attempts'::regclass)
      ) AS "historyMb",
      coalesce((
        SELECT extract(epoch FROM now() - finished_at)::int
        FROM executions
        WHERE ordinal > (SELECT rolled_up_to FROM execution_stats_progress)
        ORDER BY ordinal
        LIMIT 1
      ), 0) AS lag`
  return row ?? (yield* Effect.die(new Error("SELECT returned no row")))
})

/**
 * How much the last third may exceed the second third: a fraction plus a constant. Medians are
 * compared, because hundreds of handles are opened and closed together with the connections to
 * receivers.
 */
const allowances = {
  memoryMb: [0.1, 10],
  handles: [0.1, 16],
  connections: [0, 6],
  queued: [1, 200],
  queueMb: [0.5, 1],
  nodes: [0, 0]
} as const

const longestLagSeconds = 120

const behind = (samples: ReadonlyArray<Sample>): ReadonlyArray<string> => {
  const longest = Math.max(...samples.map(({ lag }) => lag))
  return longest > longestLagSeconds ? [`statistics were ${longest} s behind`] : []
}

const growth = (samples: ReadonlyArray<Sample>): ReadonlyArray<string> => {
  const third = Math.floor(samples.length / 3)
  const before = samples.slice(third, 2 * third)
  const last = samples.slice(2 * third)
  const middle = (of: ReadonlyArray<Sample>, what: keyof typeof allowances, n: number) =>
    median(of.map((sample) => [sample[what]].flat()[n] ?? 0))
  return Object.entries(allowances).flatMap(([name, [part, few]]) => {
    const what = name as keyof typeof allowances
    return [0, 1].flatMap((n) => {
      const was = middle(before, what, n)
      const is = middle(last, what, n)
      return is > was * (1 + part) + few
        ? [`${what} grew from ${was.toFixed(1)} to ${is.toFixed(1)}`]
        : []
    })
  })
}
