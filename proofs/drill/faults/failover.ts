import { Effect } from "effect"
import { makeStandby } from "../../../packages/server/test/support/PostgresCluster.ts"
import { eventually } from "../../../packages/server/test/support/ServerProcess.ts"
import { startTcpProxy } from "../../../packages/server/test/support/TcpProxy.ts"
import { countRunningRuns, startFixture } from "../fixture/Fixture.ts"
import { startPostgres, postgresStore } from "../fixture/Store.ts"

/**
 * Loses the primary together with its machine, and promotes its synchronous standby. The nodes know
 * only one address, which moves to the standby like a virtual IP.
 */
export const failoverDrill = Effect.gen(function* () {
  const primary = yield* startPostgres
  const standby = yield* makeStandby(primary)
  yield* standby.start
  yield* primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
  yield* primary.query("SELECT pg_reload_conf()")
  yield* eventually("a synchronous standby", async () => {
    const { stdout } = await Effect.runPromise(
      primary.query("SELECT sync_state FROM pg_stat_replication")
    )
    return stdout.trim() === "sync"
  })
  const address = yield* startTcpProxy(primary.url)
  const store = postgresStore(address.url)
  const { finish, load, nodes, recovered } = yield* startFixture({
    nodes: [store, store],
    ask: store.ask
  })
  const running = yield* load()

  const startedMs = performance.now()
  yield* primary.kill
  yield* Effect.sleep("2 seconds")
  yield* standby.promote
  yield* address.leadTo(standby.url)
  const awaySeconds = (performance.now() - startedMs) / 1000
  const inFlight = yield* store.ask(countRunningRuns(nodes))
  const seconds = yield* recovered(nodes)
  yield* Effect.sleep("2 seconds")
  return yield* finish({
    load: running,
    alive: nodes,
    inFlight,
    recovery: { seconds, withinSeconds: 10, awaySeconds }
  })
})
