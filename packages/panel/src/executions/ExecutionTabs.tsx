import { useWorkspace } from "../data/client.ts"
import { LinkTab, LinkTabs } from "../ui/layout/LinkTabs.tsx"

export const ExecutionTabs = () => {
  const { workspaceId } = useWorkspace()
  const params = { workspaceId }
  return (
    <LinkTabs label="Executions">
      <LinkTab to="/w/$workspaceId/executions" params={params} activeOptions={{ exact: true }}>
        History
      </LinkTab>
      <LinkTab to="/w/$workspaceId/executions/scheduled" params={params}>
        Scheduled
      </LinkTab>
    </LinkTabs>
  )
}
