import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { Page } from "../../ui/Page.tsx"
import { tell } from "../../ui/toast.ts"
import { ChainForm } from "./ChainForm.tsx"
import { newChain } from "./chainValues.ts"
import { chainsChanged } from "./queries.ts"

export const NewChainPage = () => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const [initial] = useState(newChain)
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
