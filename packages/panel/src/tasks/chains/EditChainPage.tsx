import type { Chain } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { AboveLink } from "../../ui/layout/AboveLink.tsx"
import { Page, Skeleton } from "../../ui/layout/Page.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { tell } from "../../ui/messages/toast.ts"
import { ChainForm } from "./ChainForm.tsx"
import { chainValuesOf } from "./chainValues.ts"
import { chainOptions, chainsChanged } from "./queries.ts"

export const EditChainPage = () => {
  const { workspaceId } = useWorkspace()
  const { chainId } = useParams({ from: "/inside/w/$workspaceId/chains/$chainId/edit" })
  const { data: chain, error } = useQuery(chainOptions(workspaceId, chainId))
  return (
    <Page
      title={chain === undefined ? "Edit" : `Edit ${chain.name}`}
      width="narrow"
      above={
        <AboveLink to="/w/$workspaceId/chains" params={{ workspaceId }}>
          Chains
        </AboveLink>
      }
    >
      {chain !== undefined ? (
        <Edit chain={chain} />
      ) : error === null ? (
        <Skeleton className="h-96" />
      ) : (
        <Problem error={error} />
      )}
    </Page>
  )
}

const Edit = ({ chain }: { readonly chain: Chain }) => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const [initial] = useState(() => chainValuesOf(chain))
  const back = () =>
    navigate({ to: "/w/$workspaceId/chains/$chainId", params: { workspaceId, chainId: chain.id } })
  return (
    <ChainForm
      initial={initial}
      action="Save changes"
      onCancel={back}
      onSend={async (input) => {
        await api.chains.update(chain.id, input)
        tell(`${input.name} was changed`)
        await chainsChanged(workspaceId)
        await back()
      }}
    />
  )
}
