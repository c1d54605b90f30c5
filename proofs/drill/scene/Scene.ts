import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fs from "node:fs"
import * as path from "node:path"
import { startSink } from "../../../packages/server/test/engine/runner/support/processes.ts"
import {
  call,
  eventually,
  type ServerProcess,
  startServer
} from "../../../packages/server/test/support/ServerProcess.ts"
import { audit, type Audit } from "./Audit.ts"
import { Ledger, type LoadOptions, openAccount, startLoad } from "./Load.ts"
import { delays, failures, hangs, type Recovery, unexpectedResponses } from "./promises.ts"
import type { Ask, Store } from "./Store.ts"

export interface Outcome {
  readonly ledger: Ledger
  readonly audit: Audit
  /** The calls that were in flight at the fault, which limits the number of repeated calls. */
  readonly inFlight: number
  readonly recovery: Recovery
  readonly notes: ReadonlyArray<string>
  readonly broken: ReadonlyArray<string>
}

/** A node as a process, and its id in the database. */
export interface Node extends ServerProcess {
  readonly id: number
}

/** The duration of calls, long enough that some calls are always in flight under load. */
const usualCallMs = 250

const quietWithinMs = 60_000

/** Starts nodes on a store and a sink for their calls, and creates a workspace with clients. */
export const startScene = Effect.fnUntraced(function* <
  const Stores extends readonly [Store, ...ReadonlyArray<Store>]
>(options: {
  readonly nodes: Stores
  readonly ask: Ask
  readonly env?: Readonly<Record<string, string>>
}) {
  const { ask } = options
  let callMs = usualCallMs
  const sink = yield* startSink(() => callMs)
  const started = yield* Effect.forEach(options.nodes, (store, n) =>
    Effect.gen(function* () {
      const server = yield* startNode(store, options.env)
      return { ...server, id: yield* eventually("a node", () => Effect.runPromise(ask(nodeAt(n)))) }
    })
  )
  const nodes = started as { readonly [K in keyof Stores]: Node }
  const account = yield* openAccount(nodes[0], sink.url)
  const ledger = new Ledger()

  /** Starts clients that write until the end of the drill, and waits until calls are in flight. */
  const load = Effect.fnUntraced(function* (more: Partial<LoadOptions> = {}) {
    const running = yield* startLoad({ nodes, account, sinkUrl: sink.url, ledger, ...more })
    yield* eventually("a load", async () => ledger.acknowledged >= 200 && sink.open() >= 10)
    return running
  })

  /**
   * Returns the seconds until each node acknowledges a write and starts runs, and all runs that
   * were due before now have finished.
   */
  const recovered = Effect.fnUntraced(function* (alive: ReadonlyArray<ServerProcess>) {
    const startedMs = performance.now()
    const since = yield* ask(databaseNow)
    yield* Effect.forEach(
      alive,
      (node) =>
        eventually(
          `${node.url} acknowledges a write`,
          async () => {
            const { status } = await call(node, "POST", `${account.workspace}/delayed`, {
              token: account.key,
              body: { name: crypto.randomUUID(), url: sink.url, delay_seconds: 0 },
              timeoutMs: 5_000
            })
            return status === 201
          },
          recoversWithinMs
        ),
      { concurrency: "unbounded" }
    )
    yield* waitUntilIdle(ask, since)
    const busy = new Set<number>()
    yield* eventually(
      "every node that starts runs",
      async () => {
        for (const id of await Effect.runPromise(ask(busyNodes(since)))) busy.add(id)
        return busy.size >= alive.length
      },
      recoversWithinMs
    )
    return (performance.now() - startedMs) / 1000
  })

  const finish = Effect.fnUntraced(function* (outcome: {
    readonly load: { readonly stop: Effect.Effect<void> }
    readonly alive: ReadonlyArray<ServerProcess>
    readonly inFlight: number
    readonly recovery: Recovery
    readonly notes?: ReadonlyArray<string>
    readonly broken?: ReadonlyArray<string>
    readonly mayLog?: string
    /** True if requests may hang, as they do at a frozen node. */
    readonly mayHang?: boolean
  }) {
    yield* outcome.load.stop
    yield* Effect.sleep(longestDelayMs)
    callMs = usualCallMs
    const until = yield* ask(databaseNow)
    yield* waitUntilIdle(ask, until)
    const found = yield* audit(ask, account, ledger, sink.calls, until)
    const result: Outcome = {
      ledger,
      audit: found,
      inFlight: outcome.inFlight,
      recovery: outcome.recovery,
      notes: outcome.notes ?? [],
      broken: [
        ...(outcome.broken ?? []),
        ...delays(ledger, outcome.recovery),
        ...(outcome.mayHang === true ? [] : hangs(ledger)),
        ...unexpectedResponses(ledger),
        ...outcome.alive.flatMap((node) => failures(node, outcome.mayLog))
      ]
    }
    return result
  })

  /** Sets the duration of calls from now on. Defaults to the usual duration. */
  const letCallsTake = (ms = usualCallMs) =>
    Effect.sync(() => {
      callMs = ms
    })

  return { account, ask, finish, ledger, letCallsTake, load, nodes, recovered, sink }
})

/** Starts a node. Its logs are saved in the folder `DRILL_LOGS`. */
export const startNode = Effect.fnUntraced(function* (
  store: Store,
  env: Readonly<Record<string, string>> = {}
) {
  const node = yield* startServer({
    EGRESS_ALLOW: "127.0.0.0/8",
    LOG_FORMAT: "json",
    ...store.env,
    ...env
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      const folder = process.env["DRILL_LOGS"]
      if (folder === undefined) return
      fs.mkdirSync(folder, { recursive: true })
      fs.writeFileSync(path.join(folder, `${node.port}.log`), node.stdout() + node.stderr())
    })
  )
  return node
})

/** Reads the running runs of the nodes from the database. */
export const runningOn = (nodes: ReadonlyArray<Node>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly running: number }>`
      SELECT count(*)::int AS running
      FROM runs
      WHERE state = 'running'
        AND lease_owner IN ${sql.in(nodes.map(({ id }) => id))}`
    return row?.running ?? 0
  })

/** Waits until all runs that are due by this time have finished. */
const waitUntilIdle = (ask: Ask, until: Date) =>
  Effect.gen(function* () {
    const startedMs = performance.now()
    for (;;) {
      const left = yield* ask(unfinished(until))
      if (left.length === 0) return
      if (performance.now() - startedMs > quietWithinMs) {
        return yield* Effect.die(
          new Error(
            `${left.length} runs have not finished after ${quietWithinMs / 1000} s: ${JSON.stringify(left.slice(0, 5))}`
          )
        )
      }
      yield* Effect.sleep(100)
    }
  })

// ---------------------------------------------------------------------------

/** Longer than the longest delay of the load, which is two seconds. */
const longestDelayMs = 3_000

const recoversWithinMs = 90_000

const databaseNow = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly now: Date }>`SELECT now() AS now`
  return row?.now ?? new Date(0)
})

const nodeAt = (n: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ readonly id: number }>`
      SELECT id
      FROM nodes
      ORDER BY id`
    return rows[n]?.id
  })

/** Returns the nodes with running runs that they started after `since`. */
const busyNodes = (since: Date) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ readonly id: number }>`
      SELECT DISTINCT lease_owner AS id
      FROM runs
      WHERE state = 'running'
        AND attempt_started_at > ${since}`
    return rows.map(({ id }) => id)
  })

/** Counts unfinished runs, including later steps of chains, which become due one after another. */
const unfinished = (until: Date) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return yield* sql`
      SELECT runs.id, state, attempt, lease_owner, died_at, due_at, attempt_started_at
      FROM runs
      LEFT JOIN nodes ON nodes.id = runs.lease_owner
      WHERE scheduled_for <= ${until}
        OR EXISTS (
          SELECT
          FROM executions
          WHERE executions.chain_run_id = runs.chain_run_id
            AND executions.scheduled_for <= ${until}
        )`
  })
