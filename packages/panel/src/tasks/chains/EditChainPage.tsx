import type { Chain } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { anew, queries } from "../../data/queries.ts"
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
  const back = () =>
    navigate({ to: "/w/$workspaceId/chains/$chainId", params: { workspaceId, chainId: chain.id } })
  return (
    <ChainForm
      initial={chainValuesOf(chain)}
      latest={async () =>
        chainValuesOf(await queries.fetchQuery(anew(chainOptions(workspaceId, chain.id))))
      }
      action="Save changes"
      onCancel={back}
      onSend={async (input, patch) => {
        await patch((changes) => api.chains.update(chain.id, changes))
        tell(`${input.name} was changed`)
        await chainsChanged(workspaceId)
        await back()
      }}
    />
  )
}
