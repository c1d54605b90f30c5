import { useNavigate, useSearch } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { Page, Skeleton } from "../../ui/layout/Page.tsx"
import { tell } from "../../ui/messages/toast.ts"
import { useOriginal } from "../useOriginal.ts"
import { ChainForm } from "./ChainForm.tsx"
import { chainValuesOf, newChain } from "./chainValues.ts"
import { chainOptions, chainsChanged } from "./queries.ts"

export const NewChainPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { from } = useSearch({ from: "/inside/w/$workspaceId/chains/new" })
  const navigate = useNavigate()
  const original = useOriginal(from, chainOptions(workspaceId, from ?? ""))
  if (original === null) return <Skeleton className="m-8 h-96" />
  const initial =
    original === undefined
      ? newChain()
      : { ...chainValuesOf(original), name: `${original.name} (copy)` }
  return (
    <Page title="New chain" width="narrow">
      <ChainForm
        initial={initial}
        action="Create chain"
        onCancel={() => navigate({ to: "/w/$workspaceId/chains", params: { workspaceId } })}
        onSend={async (input) => {
          const { id, name } = await api.chains.create(input)
          tell(`${name} was created`)
          void chainsChanged(workspaceId)
          await navigate({
            to: "/w/$workspaceId/chains/$chainId",
            params: { workspaceId, chainId: id }
          })
        }}
      />
    </Page>
  )
}
