import { Effect } from "effect"
import { countRunningRuns, startFixture } from "../fixture/Fixture.ts"
import { startPostgres, postgresStore } from "../fixture/Store.ts"

/**
 * Other clients take all free PostgreSQL connections, while the nodes keep theirs. Then the
 * database also closes the nodes' connections, and rejects new ones like a server with no free
 * connections.
 */
export const poolDrill = Effect.gen(function* () {
  const postgres = yield* startPostgres
  const store = postgresStore(postgres.url)
  const { ask } = postgresStore(postgres.ownerUrl)
  const fixture = yield* startFixture({ nodes: [store, store], ask })
  const { ledger, nodes } = fixture
  const load = yield* fixture.load()

  const full = yield* Effect.scoped(
    Effect.gen(function* () {
      yield* postgres.takeAllConnections
      const before = ledger.acknowledged
      yield* Effect.sleep("5 seconds")
      return ledger.acknowledged - before
    })
  )
  const startedMs = performance.now()
  const inFlight = yield* Effect.scoped(
    Effect.gen(function* () {
      yield* postgres.refuseConnections
      const running = yield* ask(countRunningRuns(nodes))
      yield* Effect.sleep("5 seconds")
      return running
    })
  )
  const awaySeconds = (performance.now() - startedMs) / 1000
  const seconds = yield* fixture.recovered(nodes)
  yield* Effect.sleep("2 seconds")
  const turnedAway = ledger.answers().get("503") ?? 0
  return yield* fixture.finish({
    load,
    alive: nodes,
    inFlight,
    recovery: { seconds, withinSeconds: 10, awaySeconds },
    broken: [
      ...(full > 0 ? [] : ["with its own connections, the service acknowledged nothing"]),
      ...(turnedAway > 0 ? [] : ["no request was rejected, so the database refused nothing"])
    ],
    notes: [`${full} acknowledged in 5 s while other clients held all remaining connections`]
  })
})
