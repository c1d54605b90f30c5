import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../../../packages/server/test/support/ServerProcess.ts"
import { type Node, countRunningRuns, startFixture } from "../fixture/Fixture.ts"
import { startPostgres, postgresStore } from "../fixture/Store.ts"

/**
 * Freezes one of two nodes for longer than its 15 s lease, and then lets it continue. By then, the
 * responses to its calls are waiting in its sockets, and the other node has repeated the calls. The
 * results that the thawed node writes must not count.
 */
export const freezeDrill = Effect.gen(function* () {
  const store = postgresStore((yield* startPostgres).url)
  const fixture = yield* startFixture({ nodes: [store, store], ask: store.ask })
  const [frozen, other] = fixture.nodes
  const load = yield* fixture.load()

  frozen.kill("SIGSTOP")
  const startedMs = performance.now()
  const inFlight = yield* store.ask(countRunningRuns([frozen]))
  yield* fixture.letCallsTake(repeatedCallMs)
  const repeated = yield* eventually("a node that repeats the calls", async () => {
    const runs = await Effect.runPromise(store.ask(repeatedBy(other)))
    return runs.length > 0 && runs
  })
  const seconds = (performance.now() - startedMs) / 1000
  frozen.kill("SIGCONT")
  yield* Effect.sleep(lateWriteMs)
  const kept = new Set(yield* store.ask(repeatedBy(other)))
  const endedWithoutLease = repeated.filter((id) => !kept.has(id))
  yield* fixture.letCallsTake()
  const thawed = yield* fixture.recovered([frozen, other])
  yield* Effect.sleep("2 seconds")
  return yield* fixture.finish({
    load,
    alive: [frozen, other],
    inFlight,
    recovery: { seconds, withinSeconds: 25 },
    mayHang: true,
    broken:
      endedWithoutLease.length === 0
        ? []
        : [
            `the thawed node finished ${endedWithoutLease.length} runs that it had lost, such as ${endedWithoutLease[0]}`
          ],
    notes: [
      `${repeated.length} calls were being repeated when it thawed; it served requests again after ${thawed.toFixed(1)} s`
    ]
  })
})

/**
 * How long to wait for a thawed node to write outdated results. No run is allowed to finish during
 * this time.
 */
const lateWriteMs = 3_000
const repeatedCallMs = 2 * lateWriteMs

/** Returns the runs that a node repeats after another node lost them. */
const repeatedBy = (node: Node) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ readonly id: string }>`
      SELECT id
      FROM runs
      WHERE state = 'running'
        AND lost > 0
        AND lease_owner = ${node.id}`
    return rows.map(({ id }) => id)
  })
