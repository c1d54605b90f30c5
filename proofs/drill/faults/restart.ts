import { Effect } from "effect"
import { countRunningRuns, startFixture } from "../fixture/Fixture.ts"
import { startPostgres, postgresStore } from "../fixture/Store.ts"

/**
 * Restarts PostgreSQL under load, first with a clean shutdown, then as if after a power failure.
 */
export const restartDrill = Effect.gen(function* () {
  const postgres = yield* startPostgres
  const store = postgresStore(postgres.url)
  const { finish, load, nodes, recovered } = yield* startFixture({
    nodes: [store, store],
    ask: store.ask
  })
  const running = yield* load()

  const down = Effect.fnUntraced(function* (stop: Effect.Effect<unknown>) {
    const startedMs = performance.now()
    yield* stop
    yield* Effect.sleep("2 seconds")
    yield* postgres.start
    const awaySeconds = (performance.now() - startedMs) / 1000
    const inFlight = yield* store.ask(countRunningRuns(nodes))
    const seconds = yield* recovered(nodes)
    yield* Effect.sleep("2 seconds")
    return { awaySeconds, inFlight, seconds }
  })
  const stopped = yield* down(postgres.stop)
  const crashed = yield* down(postgres.crash)
  return yield* finish({
    load: running,
    alive: nodes,
    inFlight: stopped.inFlight + crashed.inFlight,
    recovery: {
      seconds: Math.max(stopped.seconds, crashed.seconds),
      withinSeconds: 10,
      awaySeconds: Math.max(stopped.awaySeconds, crashed.awaySeconds)
    }
  })
})
