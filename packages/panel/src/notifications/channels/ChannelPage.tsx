import type { NotificationChannel, SchedulingClient, TestDelivery } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { Pause, Play, Send } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { queryClient, bypassCache } from "../../data/queries.ts"
import { ParentPageLink } from "../../ui/layout/ParentPageLink.tsx"
import { Button } from "../../ui/actions/Button.tsx"
import { formatDuration } from "../../ui/values/format.ts"
import { Loaded, LoadedPage } from "../../ui/messages/Loaded.tsx"
import { MenuItem } from "../../ui/actions/Menu.tsx"
import { RowMenu } from "../../ui/actions/RowMenu.tsx"
import { Card, EmptyState, Page, Section } from "../../ui/layout/Page.tsx"
import { ApiMessage } from "../../ui/values/ApiMessage.tsx"
import { Badge, Status } from "../../ui/values/Status.tsx"
import { runWithToast, showSuccessToast, showErrorToast } from "../../ui/messages/toast.ts"
import { ChannelForm } from "./ChannelForm.tsx"
import { channelKindNames } from "../../data/channelKindNames.ts"
import { ChannelStatus } from "./ChannelStatus.tsx"
import { NoRuleWarning } from "./NoRuleWarning.tsx"
import { DeliveryList } from "../deliveries/DeliveryList.tsx"
import { type VersionedResource, Versions } from "../../versions/Versions.tsx"
import { notificationsQueryKey } from "../../recipients/queries.ts"
import { channelOptions, channelKindsOptions, refetchNotifications } from "../queries.ts"
import { RoleGate } from "../../ui/role.tsx"
import { useNavigateAfterAction } from "../../ui/useNavigateAfterAction.ts"

export const ChannelPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { channelId } = useParams({
    from: "/inside/w/$workspaceId/notifications/channels/$channelId"
  })
  const above = (
    <ParentPageLink to="/w/$workspaceId/notifications" params={{ workspaceId }}>
      Notifications
    </ParentPageLink>
  )
  return (
    <LoadedPage
      query={useQuery(channelOptions(workspaceId, channelId))}
      name="Channel"
      above={above}
    >
      {(channel) => (
        <Page
          title={channel.name}
          above={above}
          description={
            <span className="flex flex-wrap items-center gap-3">
              {channelKindNames[channel.kind]} <ChannelStatus channel={channel} />
            </span>
          }
          actions={<ChannelActions channel={channel} />}
        >
          <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_26rem]">
            <div className="flex min-w-0 flex-col gap-8">
              <Hints channel={channel} />
              <NoRuleWarning channel={channel} />
              <Test channel={channel} />
              <Section title="Deliveries">
                <DeliveryList
                  showsChannel={false}
                  search={{ channel_id: channel.id }}
                  empty={<EmptyState title="No deliveries yet" />}
                />
              </Section>
            </div>
            <div className="flex min-w-0 flex-col gap-8">
              <Section title="Settings">
                <Settings channel={channel} />
              </Section>
              <Versions
                record={channel}
                resource={channelVersions(api)}
                queryKey={notificationsQueryKey(workspaceId)}
                onRestored={() => refetchNotifications(workspaceId)}
              />
            </div>
          </div>
        </Page>
      )}
    </LoadedPage>
  )
}

const channelVersions = ({ notifications }: SchedulingClient): VersionedResource => ({
  listVersions: (id, options) => notifications.listChannelVersions(id, options),
  restoreVersion: (id, version) => notifications.restoreChannelVersion(id, version)
})

const Hints = ({
  channel: { confirmed, paused_reason }
}: {
  readonly channel: NotificationChannel
}) => (
  <>
    {paused_reason !== null && (
      <p className="rounded-lg border border-bad/30 tint-bad px-3.5 py-3">
        The service has paused this channel: {paused_reason}
      </p>
    )}
    {!confirmed && (
      <p className="rounded-lg border border-warn/30 tint-warn px-3.5 py-3">
        Nothing is sent to this address until someone opens the link in the email that was sent to
        it.
      </p>
    )}
  </>
)

const Test = ({ channel: { id } }: { readonly channel: NotificationChannel }) => {
  const { api, workspaceId } = useWorkspace()
  const [answer, setAnswer] = useState<TestDelivery>()
  const [isBusy, setBusy] = useState(false)
  const test = async () => {
    setBusy(true)
    setAnswer(undefined)
    try {
      setAnswer(await api.notifications.test(id))
    } catch (error) {
      showErrorToast(error)
    } finally {
      setBusy(false)
      void refetchNotifications(workspaceId)
    }
  }
  return (
    <Section title="Test">
      <Card className="flex flex-col gap-4 p-5">
        <div className="flex flex-wrap items-center justify-between gap-4">
          <p className="text-soft">Sends a message now and shows the response.</p>
          <RoleGate role="editor">
            <Button icon={<Send />} busy={isBusy} onClick={test}>
              Send test message
            </Button>
          </RoleGate>
        </div>
        {answer !== undefined && (
          <div role="status" className="flex flex-col gap-1.5 border-t border-line pt-4">
            <p className="flex flex-wrap items-center gap-3">
              <Status of={answer.delivered ? "delivered" : "failed"} />
              {answer.status_code !== null && (
                <Badge tone={answer.delivered ? "ok" : "bad"}>{answer.status_code}</Badge>
              )}
              <span className="text-faint">after {formatDuration(answer.duration_ms)}</span>
            </p>
            {answer.error !== null && (
              <p className="break-words text-bad">
                <ApiMessage text={answer.error} />
              </p>
            )}
          </div>
        )}
      </Card>
    </Section>
  )
}

const Settings = ({ channel }: { readonly channel: NotificationChannel }) => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const kinds = useQuery(channelKindsOptions(workspaceId))
  const data = kinds.data?.find((one) => one.kind === channel.kind)
  return (
    <Loaded query={{ ...kinds, data }} height="h-64">
      {(kind) => (
        <ChannelForm
          kind={kind}
          channel={channel}
          action="Save changes"
          onCancel={() =>
            void navigate({ to: "/w/$workspaceId/notifications", params: { workspaceId } })
          }
          latest={() =>
            queryClient.fetchQuery(bypassCache(channelOptions(channel.workspace_id, channel.id)))
          }
          onSend={async (input, patch) => {
            await patch((changes) => api.notifications.updateChannel(channel.id, changes))
            showSuccessToast(`${input.name} was changed`)
            await refetchNotifications(workspaceId)
          }}
        />
      )}
    </Loaded>
  )
}

const ChannelActions = ({
  channel: { id, name, paused }
}: {
  readonly channel: NotificationChannel
}) => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigateAfterAction()
  const setPaused = async (next: boolean) => {
    await runWithToast(
      () => api.notifications.updateChannel(id, { paused: next }),
      `${name} was ${next ? "paused" : "resumed"}`
    )
    await refetchNotifications(workspaceId)
  }
  return (
    <RowMenu
      name={name}
      role="editor"
      first={
        paused ? (
          <MenuItem icon={<Play />} onSelect={() => void setPaused(false)}>
            Resume
          </MenuItem>
        ) : (
          <MenuItem icon={<Pause />} onSelect={() => void setPaused(true)}>
            Pause
          </MenuItem>
        )
      }
      onDelete={async () => {
        await api.notifications.deleteChannel(id)
        showSuccessToast(`${name} was deleted`)
        void refetchNotifications(workspaceId)
        await navigate({
          to: "/w/$workspaceId/notifications",
          params: { workspaceId },
          replace: true
        })
      }}
      warning="The channel is removed from all rules, and its queued messages are cancelled. Sent messages stay in the list of deliveries."
    />
  )
}
