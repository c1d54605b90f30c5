import type { Chain } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { executionsChanged } from "../../executions/queries.ts"
import { attempt, tell } from "../../ui/messages/toast.ts"
import { chainsChanged } from "./queries.ts"

type Named = Pick<Chain, "id" | "name">

/** What can be done with a chain from wherever it is shown. */
export const useChainActions = () => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const changed = () => Promise.all([chainsChanged(workspaceId), executionsChanged(workspaceId)])
  const act = (work: (chain: Named) => Promise<unknown>, done: string) => async (chain: Named) => {
    await attempt(() => work(chain), `${chain.name} ${done}`)
    await changed()
  }
  return {
    /** Shows the run that it starts. */
    run: act(async ({ id: chainId }) => {
      const { id } = await api.chains.run(chainId)
      await navigate({
        to: "/w/$workspaceId/chains/$chainId",
        params: { workspaceId, chainId },
        search: { run: id }
      })
    }, "was started"),
    pause: act(({ id }) => api.chains.pause(id), "is paused"),
    resume: act(({ id }) => api.chains.resume(id), "is active again"),
    /** Throws, because its dialog shows what went wrong. */
    remove: async ({ id, name }: Named) => {
      await api.chains.remove(id)
      tell(`${name} was deleted`)
      void changed()
    }
  }
}
