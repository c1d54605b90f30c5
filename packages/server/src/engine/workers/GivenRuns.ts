import { Context, Layer } from "effect"
import type { GivenRun } from "./WorkerHeld.ts"

/** This many entries take a few megabytes. */
const maxRemembered = 8_192

/**
 * A cache of the runs that this node has given to agents, so that they need not be read again when
 * their results arrive. Missing runs are read from the database: the oldest entries are evicted
 * first, and the result of a run may be sent to any node.
 */
export class GivenRuns extends Context.Service<
  GivenRuns,
  {
    readonly remember: (session: number, run: GivenRun) => void
    /**
     * Returns a run only once, because a result that is sent again must be compared with the stored
     * one.
     */
    readonly recall: (lease: {
      readonly id: string
      readonly attempt: number
      readonly session: number
    }) => GivenRun | undefined
  }
>()("@scheduling/server/engine/workers/GivenRuns") {
  static readonly layer: Layer.Layer<GivenRuns> = Layer.sync(GivenRuns, () => {
    const runs = new Map<string, { readonly session: number; readonly run: GivenRun }>()
    const forgetOldest = () => {
      const [oldest] = runs.keys()
      if (oldest !== undefined) runs.delete(oldest)
    }
    return GivenRuns.of({
      remember: (session, run) => {
        if (runs.size >= maxRemembered) forgetOldest()
        runs.set(run.id, { session, run })
      },
      recall: ({ attempt, id, session }) => {
        const given = runs.get(id)
        if (given?.session !== session || given.run.attempt !== attempt) return undefined
        runs.delete(id)
        return given.run
      }
    })
  })
}
