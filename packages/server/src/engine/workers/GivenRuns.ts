import { Context, Layer } from "effect"
import type { GivenRun } from "./WorkerHeld.ts"

/** So many fit into a few megabytes. */
const mostRemembered = 8_192

/**
 * The runs that this node has given to agents, so that they need not be read again when their
 * results come. What is not here has to be looked up: the oldest are forgotten first, and the
 * results of a run may go to any node.
 */
export class GivenRuns extends Context.Service<
  GivenRuns,
  {
    readonly remember: (session: number, run: GivenRun) => void
    /** Once, because a result that is handed in again has to be compared with what was written. */
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
        if (runs.size >= mostRemembered) forgetOldest()
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
