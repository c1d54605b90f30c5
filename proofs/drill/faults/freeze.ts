import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../../../packages/server/test/support/ServerProcess.ts"
import { type Node, runningOn, startScene } from "../scene/Scene.ts"
import { startPostgres, storeAt } from "../scene/Store.ts"

/**
 * Freezes one of two nodes for longer than its lease of 15 s, and then continues it. By then, the
 * responses to its calls wait in its sockets, and the other node has repeated the calls. Results
 * that the thawed node writes must not count.
 */
export const freeze = Effect.gen(function* () {
  const store = storeAt((yield* startPostgres).url)
  const scene = yield* startScene({ nodes: [store, store], ask: store.ask })
  const [frozen, other] = scene.nodes
  const load = yield* scene.load()

  frozen.kill("SIGSTOP")
  const startedMs = performance.now()
  const inFlight = yield* store.ask(runningOn([frozen]))
  yield* scene.letCallsTake(repeatedCallMs)
  const repeated = yield* eventually("a node that repeats the calls", async () => {
    const runs = await Effect.runPromise(store.ask(repeatedBy(other)))
    return runs.length > 0 && runs
  })
  const seconds = (performance.now() - startedMs) / 1000
  frozen.kill("SIGCONT")
  yield* Effect.sleep(lateWriteMs)
  const kept = new Set(yield* store.ask(repeatedBy(other)))
  const endedWithoutLease = repeated.filter((id) => !kept.has(id))
  yield* scene.letCallsTake()
  const thawed = yield* scene.recovered([frozen, other])
  yield* Effect.sleep("2 seconds")
  return yield* scene.finish({
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

/** How long a thawed node may take to write stale results. No run may finish before that. */
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
