import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { LinkTab, LinkTabs } from "../ui/layout/LinkTabs.tsx"
import { Page } from "../ui/layout/Page.tsx"

export const NotificationsPage = ({
  actions,
  children,
  name
}: {
  readonly name: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}) => {
  const { workspaceId } = useWorkspace()
  const params = { workspaceId }
  return (
    <Page
      title="Notifications"
      name={`Notifications: ${name}`}
      description="Who is notified of failures and recoveries, and how."
      actions={actions}
    >
      <LinkTabs label="Notifications">
        <LinkTab to="/w/$workspaceId/notifications" params={params} activeOptions={{ exact: true }}>
          Channels
        </LinkTab>
        <LinkTab to="/w/$workspaceId/notifications/rules" params={params}>
          Rules
        </LinkTab>
        <LinkTab to="/w/$workspaceId/notifications/escalations" params={params}>
          Escalations
        </LinkTab>
        <LinkTab to="/w/$workspaceId/notifications/deliveries" params={params}>
          Deliveries
        </LinkTab>
      </LinkTabs>
      {children}
    </Page>
  )
}
