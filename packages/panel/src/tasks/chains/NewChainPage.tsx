import { useNavigate, useSearch } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { tell } from "../../ui/messages/toast.ts"
import { NewTaskPage } from "../TaskPages.tsx"
import { ChainForm } from "./ChainForm.tsx"
import { chainValuesOf, newChain } from "./chainValues.ts"
import { chainKind } from "./chainKind.ts"
import { chainQueries } from "./queries.ts"

export const NewChainPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { from } = useSearch({ from: "/inside/w/$workspaceId/chains/new" })
  const navigate = useNavigate()
  return (
    <NewTaskPage
      words={chainKind}
      from={from}
      one={chainQueries.one(workspaceId, from ?? "")}
      form={(original) => (
        <ChainForm
          initial={
            original === undefined
              ? newChain()
              : { ...chainValuesOf(original), name: `${original.name} (copy)` }
          }
          action="Create chain"
          onCancel={() => navigate({ to: "/w/$workspaceId/chains", params: { workspaceId } })}
          onSend={async (input) => {
            const { id, name } = await api.chains.create(input)
            tell(`${name} was created`)
            void chainQueries.changed(workspaceId)
            const params = { workspaceId, taskId: id }
            await navigate({ to: "/w/$workspaceId/chains/$taskId", params })
          }}
        />
      )}
    />
  )
}
