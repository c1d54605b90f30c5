import { Effect } from "effect"
import { countRunningRuns, startFixture } from "../fixture/Fixture.ts"
import { startPostgres, postgresStore } from "../fixture/Store.ts"

/** Kills one of two nodes under load. The other node takes over its runs. */
export const killDrill = Effect.gen(function* () {
  const store = postgresStore((yield* startPostgres).url)
  const fixture = yield* startFixture({ nodes: [store, store], ask: store.ask })
  const [victim, other] = fixture.nodes
  const load = yield* fixture.load()

  victim.kill("SIGKILL")
  const inFlight = yield* store.ask(countRunningRuns([victim]))
  const seconds = yield* fixture.recovered([other])
  yield* Effect.sleep("2 seconds")
  return yield* fixture.finish({
    load,
    alive: [other],
    inFlight,
    recovery: { seconds, withinSeconds: 10 }
  })
})
