import { useNavigate, useParams } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { tell } from "../../ui/messages/toast.ts"
import { EditTaskPage } from "../TaskPages.tsx"
import { ChainForm } from "./ChainForm.tsx"
import { chainValuesOf } from "./chainValues.ts"
import { chainKind } from "./chainKind.ts"
import { chainQueries } from "./queries.ts"

export const EditChainPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { taskId } = useParams({ from: "/inside/w/$workspaceId/chains/$taskId/edit" })
  const navigate = useNavigate()
  const back = () =>
    navigate({ to: "/w/$workspaceId/chains/$taskId", params: { workspaceId, taskId } })
  return (
    <EditTaskPage
      words={chainKind}
      one={chainQueries.one(workspaceId, taskId)}
      valuesOf={chainValuesOf}
      form={(initial, latest) => (
        <ChainForm
          initial={initial}
          latest={latest}
          action="Save changes"
          onCancel={back}
          onSend={async (input, patch) => {
            await patch((changes) => api.chains.update(taskId, changes))
            tell(`${input.name} was changed`)
            await chainQueries.changed(workspaceId)
            await back()
          }}
        />
      )}
    />
  )
}
