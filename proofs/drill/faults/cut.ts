import { Effect } from "effect"
import { startTcpProxy } from "../../../packages/server/test/support/TcpProxy.ts"
import { countRunningRuns, startFixture } from "../fixture/Fixture.ts"
import { startPostgres, postgresStore } from "../fixture/Store.ts"

/** How long a node can take to notice the cut: 35 s of silence, checked every 7 s. */
const noticeCutWithinSeconds = 60

/**
 * Silently cuts the network between one node and the database. No RST or FIN is sent, even after
 * the network is restored, as if a firewall had forgotten the connections.
 */
export const cutDrill = Effect.gen(function* () {
  const postgres = yield* startPostgres
  const network = yield* startTcpProxy(postgres.url)
  const store = postgresStore(postgres.url)
  const fixture = yield* startFixture({
    nodes: [postgresStore(network.url), store],
    ask: store.ask
  })
  const [lonely, other] = fixture.nodes
  const load = yield* fixture.load()

  yield* network.cut
  const inFlight = yield* store.ask(countRunningRuns([lonely]))
  const startedMs = performance.now()
  const seconds = yield* fixture.recovered([other])
  yield* Effect.sleep("5 seconds")
  yield* network.heal("stay lost")
  const healed = yield* fixture.recovered([lonely, other])
  const lonelySeconds = (performance.now() - startedMs) / 1000
  yield* Effect.sleep("2 seconds")
  const turnedAway = fixture.ledger.answers(other).get("503") ?? 0
  return yield* fixture.finish({
    load,
    alive: [lonely, other],
    inFlight,
    recovery: { seconds, withinSeconds: 25 },
    broken: [
      ...(turnedAway === 0 ? [] : [`the connected node rejected ${turnedAway} requests`]),
      ...(lonelySeconds > noticeCutWithinSeconds
        ? [
            `the disconnected node served requests again ${lonelySeconds.toFixed(1)} s after the cut`
          ]
        : [])
    ],
    notes: [
      `the disconnected node served requests again ${healed.toFixed(1)} s after the network was restored`
    ]
  })
})
