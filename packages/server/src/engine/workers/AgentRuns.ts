import { Context, Layer } from "effect"
import type { AgentRun } from "./HeldRuns.ts"

/** The maximum number of cached runs. They take a few megabytes. */
const maxRemembered = 8_192

/**
 * A cache of the runs that this node has given to agents, so that a run need not be read again when
 * its result arrives. A run that is not cached is read from the database, because the oldest
 * entries are evicted and the result of a run may be sent to any node.
 */
export class AgentRuns extends Context.Service<
  AgentRuns,
  {
    readonly remember: (session: number, run: AgentRun) => void
    /**
     * Returns a run only once, because a result that is sent again must be compared with the stored
     * one.
     */
    readonly recall: (lease: {
      readonly id: string
      readonly attempt: number
      readonly session: number
    }) => AgentRun | undefined
  }
>()("@scheduling/server/engine/workers/AgentRuns") {
  static readonly layer: Layer.Layer<AgentRuns> = Layer.sync(AgentRuns, () => {
    const runs = new Map<string, { readonly session: number; readonly run: AgentRun }>()
    const forgetOldest = () => {
      const [oldest] = runs.keys()
      if (oldest !== undefined) runs.delete(oldest)
    }
    return AgentRuns.of({
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
