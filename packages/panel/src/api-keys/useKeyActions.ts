import type { ApiKey } from "@scheduling/sdk"
import { useWorkspace } from "../data/client.ts"
import { tell } from "../ui/messages/toast.ts"
import { keysChanged } from "./queries.ts"

type Named = Pick<ApiKey, "id" | "name">

/** What can be done with a key. All of it throws, because its dialog shows what went wrong. */
export const useKeyActions = () => {
  const { api, workspaceId } = useWorkspace()
  return {
    rotate: async ({ id }: Named, graceSeconds: number) => {
      const created = await api.apiKeys.rotate(id, { grace_seconds: graceSeconds })
      void keysChanged(workspaceId)
      return created
    },
    revoke: async ({ id, name }: Named) => {
      await api.apiKeys.revoke(id)
      tell(`${name} is revoked`)
      await keysChanged(workspaceId)
    },
    remove: async ({ id, name }: Named) => {
      await api.apiKeys.remove(id)
      tell(`${name} was deleted`)
      await keysChanged(workspaceId)
    }
  }
}
