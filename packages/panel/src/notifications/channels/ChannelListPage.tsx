import type { NotificationChannel } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { BellRing, Plus } from "lucide-react"
import { ApiExample } from "../../data/ApiExample.tsx"
import { useWorkspace } from "../../data/client.ts"
import { useWholeList } from "../../data/queries.ts"
import { ButtonLink } from "../../ui/actions/Button.tsx"
import { type Column, List, rowTitleClass, rowDetailClass } from "../../ui/lists/List.tsx"
import { EmptyState } from "../../ui/layout/Page.tsx"
import { ApiMessage } from "../../ui/values/ApiMessage.tsx"
import { RelativeTime } from "../../ui/values/Time.tsx"
import { channelKindNames } from "../../data/channelKindNames.ts"
import { ChannelStatus } from "./ChannelStatus.tsx"
import { NotificationsPage } from "../NotificationsPage.tsx"
import { channelsOptions } from "../queries.ts"
import { RoleGate } from "../../ui/role.tsx"

export const ChannelListPage = () => {
  const { workspaceId } = useWorkspace()
  const list = useWholeList(channelsOptions(workspaceId))
  const create = (
    <RoleGate role="editor">
      <ButtonLink
        to="/w/$workspaceId/notifications/channels/new"
        params={{ workspaceId }}
        look="main"
        icon={<Plus />}
      >
        New channel
      </ButtonLink>
    </RoleGate>
  )
  return (
    <NotificationsPage name="channels" actions={create}>
      <List
        {...list}
        label="Channels"
        columns={columns}
        empty={
          <EmptyState title="No channels yet" icon={<BellRing />} action={create}>
            <p className="mb-6">
              A channel is a destination for messages, such as an email address, a Slack channel, a
              pager or a webhook. Rules decide which events a channel receives.
            </p>
            <ApiExample
              label="Create a channel"
              path="notifications/channels"
              method="notifications.createChannel"
              input={{
                name: "Operations",
                kind: "webhook",
                config: { url: "https://ops.example.com/alerts" }
              }}
            />
          </EmptyState>
        }
      />
    </NotificationsPage>
  )
}

const columns: ReadonlyArray<Column<NotificationChannel>> = [
  {
    key: "state",
    head: "Status",
    className: "w-32 shrink-0",
    belowOnPhone: "plain",
    cell: (channel) => <ChannelStatus channel={channel} />
  },
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: ({ id, kind, name, workspace_id }) => (
      <>
        <Link
          to="/w/$workspaceId/notifications/channels/$channelId"
          params={{ workspaceId: workspace_id, channelId: id }}
          className={rowTitleClass}
        >
          {name}
        </Link>
        <span className={rowDetailClass}>{channelKindNames[kind]}</span>
      </>
    )
  },
  {
    key: "last",
    head: "Last delivery",
    className: "grow basis-0",
    belowOnPhone: "labelled",
    cell: ({ last_delivery }) =>
      last_delivery === null ? (
        <span className="text-faint">None yet</span>
      ) : (
        <>
          <RelativeTime at={last_delivery.at} />
          {last_delivery.error !== null && (
            <span className={rowDetailClass} title={last_delivery.error}>
              <ApiMessage text={last_delivery.error} />
            </span>
          )}
        </>
      )
  }
]
