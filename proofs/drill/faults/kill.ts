import { Effect } from "effect"
import { runningOn, startScene } from "../scene/Scene.ts"
import { startPostgres, storeAt } from "../scene/Store.ts"

/** Kills one of two nodes under load. The other node takes over its runs. */
export const kill = Effect.gen(function* () {
  const store = storeAt((yield* startPostgres).url)
  const scene = yield* startScene({ nodes: [store, store], ask: store.ask })
  const [victim, other] = scene.nodes
  const load = yield* scene.load()

  victim.kill("SIGKILL")
  const inFlight = yield* store.ask(runningOn([victim]))
  const seconds = yield* scene.recovered([other])
  yield* Effect.sleep("2 seconds")
  return yield* scene.finish({
    load,
    alive: [other],
    inFlight,
    recovery: { seconds, withinSeconds: 10 }
  })
})
