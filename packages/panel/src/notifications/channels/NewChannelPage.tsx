import type { NotificationChannelInput, NotificationKindInfo } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { ParentPageLink } from "../../ui/layout/ParentPageLink.tsx"
import { LoadedPage } from "../../ui/messages/Loaded.tsx"
import { Card, Page } from "../../ui/layout/Page.tsx"
import { showSuccessToast } from "../../ui/messages/toast.ts"
import { useNavigateAfterAction } from "../../ui/useNavigateAfterAction.ts"
import { ChannelForm } from "./ChannelForm.tsx"
import { channelKindsOptions, refetchNotifications } from "../queries.ts"

export const NewChannelPage = () => {
  const { workspaceId } = useWorkspace()
  const { kind } = useSearch({ from: "/inside/w/$workspaceId/notifications/channels/new" })
  const above = (
    <ParentPageLink to="/w/$workspaceId/notifications" params={{ workspaceId }}>
      Notifications
    </ParentPageLink>
  )
  return (
    <LoadedPage query={useQuery(channelKindsOptions(workspaceId))} name="New channel" above={above}>
      {(kinds) => {
        const chosen = kinds.find((one) => one.kind === kind && one.available)
        return chosen === undefined ? (
          <Page title="New channel" above={above} description="Choose a kind of channel.">
            <ul className="grid gap-2 sm:grid-cols-2 lg:grid-cols-4">
              {kinds.map((one) => (
                <Kind key={one.kind} kind={one} />
              ))}
            </ul>
          </Page>
        ) : (
          <NewChannel key={chosen.kind} kind={chosen} />
        )
      }}
    </LoadedPage>
  )
}

const Kind = ({
  kind: { available, kind, title, unavailable_reason }
}: {
  readonly kind: NotificationKindInfo
}) => {
  const { workspaceId } = useWorkspace()
  return (
    <li>
      <Card className="relative h-full px-4 py-3 transition-colors duration-100 hover:border-edge">
        {available ? (
          <Link
            to="/w/$workspaceId/notifications/channels/new"
            params={{ workspaceId }}
            search={{ kind }}
            className="font-medium after:absolute after:inset-0 after:rounded-xl"
          >
            {title}
          </Link>
        ) : (
          <>
            <span className="font-medium text-faint">{title}</span>
            <span className="block text-xs text-faint">{unavailable_reason}</span>
          </>
        )}
      </Card>
    </li>
  )
}

const NewChannel = ({ kind }: { readonly kind: NotificationKindInfo }) => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const navigateAfterAction = useNavigateAfterAction()
  return (
    <Page
      title={`New channel: ${kind.title}`}
      width="narrow"
      above={
        <ParentPageLink
          to="/w/$workspaceId/notifications/channels/new"
          params={{ workspaceId }}
          search={{}}
        >
          Choose another kind of channel
        </ParentPageLink>
      }
    >
      <ChannelForm
        kind={kind}
        action="Create channel"
        onCancel={() =>
          void navigate({ to: "/w/$workspaceId/notifications", params: { workspaceId } })
        }
        onSend={async (input) => {
          // The form is generated from the kind's schema, so the config is of this kind.
          const channel = { ...input, kind: kind.kind } as NotificationChannelInput
          const { id, name } = await api.notifications.createChannel(channel)
          showSuccessToast(`${name} was created`)
          void refetchNotifications(workspaceId)
          await navigateAfterAction({
            to: "/w/$workspaceId/notifications/channels/$channelId",
            params: { workspaceId, channelId: id }
          })
        }}
      />
    </Page>
  )
}
