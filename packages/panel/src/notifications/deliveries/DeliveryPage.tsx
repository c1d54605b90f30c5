import type {
  DeliveryAttempt,
  NotificationChannelId,
  NotificationDeliveryDetail
} from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { Send } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { ParentPageLink } from "../../ui/layout/ParentPageLink.tsx"
import { Button } from "../../ui/actions/Button.tsx"
import { Code } from "../../ui/values/Code.tsx"
import { CopyableText } from "../../ui/values/Copy.tsx"
import { LoadedPage } from "../../ui/messages/Loaded.tsx"
import {
  Card,
  type FactsByName,
  FactsSection,
  Page,
  Section,
  Skeleton
} from "../../ui/layout/Page.tsx"
import { ApiMessage } from "../../ui/values/ApiMessage.tsx"
import { Badge, Status } from "../../ui/values/Status.tsx"
import { stripDirectionMarks } from "../../ui/values/stripDirectionMarks.ts"
import { ExactTime, RelativeTime } from "../../ui/values/Time.tsx"
import { useNavigateAfterAction } from "../../ui/useNavigateAfterAction.ts"
import { showSuccessToast, showErrorToast } from "../../ui/messages/toast.ts"
import { channelKindNames } from "../../data/channelKindNames.ts"
import { describeEvent, deliveryTitle } from "../events.ts"
import { channelsOptions, deliveryOptions, refetchNotifications } from "../queries.ts"
import { RoleGate } from "../../ui/role.tsx"

export const DeliveryPage = () => {
  const { workspaceId } = useWorkspace()
  const { deliveryId } = useParams({
    from: "/inside/w/$workspaceId/notifications/deliveries/$deliveryId"
  })
  const above = (
    <ParentPageLink to="/w/$workspaceId/notifications/deliveries" params={{ workspaceId }}>
      Deliveries
    </ParentPageLink>
  )
  const query = useQuery({
    ...deliveryOptions(workspaceId, deliveryId),
    refetchInterval: ({ state }) => (state.data?.finished_at === null ? 2_000 : false)
  })
  return (
    <LoadedPage query={query} name="Delivery" above={above}>
      {(delivery) => (
        <Page
          name={deliveryTitle(delivery)}
          title={
            <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
              {deliveryTitle(delivery)}
              <span className="text-base font-medium tracking-normal">
                <Status of={delivery.status} />
              </span>
            </span>
          }
          above={above}
          description={delivery.error !== null && <ApiMessage text={delivery.error} />}
          actions={
            delivery.finished_at !== null &&
            delivery.status !== "dropped" && (
              <RoleGate role="editor">
                <Resend delivery={delivery} />
              </RoleGate>
            )
          }
        >
          <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
            <div className="flex min-w-0 flex-col gap-8">
              <Section title="Message">
                <Card className="divide-y divide-line">
                  {delivery.events.map(({ at, name, reason, subject_id, type }) => (
                    <div key={subject_id + type} className="flex gap-4 px-5 py-3">
                      <div className="min-w-0 grow">
                        <p className="font-medium break-words">{describeEvent({ name, type })}</p>
                        {reason !== null && (
                          <p className="break-words text-soft">
                            <ApiMessage text={reason} />
                          </p>
                        )}
                      </div>
                      <ExactTime at={at} className="text-faint" />
                    </div>
                  ))}
                  {delivery.events.length === 0 && (
                    <p className="px-5 py-4 text-faint">A request to confirm the email address.</p>
                  )}
                </Card>
              </Section>
              <Section title="Attempts">
                <div className="flex flex-col gap-4">
                  {delivery.attempts.map((one) => (
                    <Attempt key={one.number} attempt={one} />
                  ))}
                  {delivery.attempts.length === 0 && <p className="text-faint">No attempts yet.</p>}
                </div>
              </Section>
            </div>
            <FactsSection title="Delivery" facts={factsOf(delivery)} />
          </div>
        </Page>
      )}
    </LoadedPage>
  )
}

const Resend = ({ delivery: { id } }: { readonly delivery: NotificationDeliveryDetail }) => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigateAfterAction()
  return (
    <Button
      icon={<Send />}
      onClick={async () => {
        try {
          const again = await api.notifications.resend(id)
          showSuccessToast("The message was sent again")
          void refetchNotifications(workspaceId)
          await navigate({
            to: "/w/$workspaceId/notifications/deliveries/$deliveryId",
            params: { workspaceId, deliveryId: again.id }
          })
        } catch (error) {
          showErrorToast(error)
        }
      }}
    >
      Send message again
    </Button>
  )
}

const Attempt = ({
  attempt: { error, finished_at, number, response_body, started_at, status_code }
}: {
  readonly attempt: DeliveryAttempt
}) => (
  <Card className="flex flex-col gap-3 p-5">
    <p className="flex flex-wrap items-center gap-3">
      <span className="font-medium">Attempt {number}</span>
      {status_code !== null && <Badge tone={error === null ? "ok" : "bad"}>{status_code}</Badge>}
      <ExactTime at={started_at} className="text-faint" />
    </p>
    {error !== null && (
      <p className="break-words text-bad">
        <ApiMessage text={error} />
      </p>
    )}
    {finished_at === null && <p className="text-faint">The result of this attempt is unknown.</p>}
    {response_body !== null && response_body !== "" && (
      <Code label={`response to attempt ${number}`} text={response_body} wrap />
    )}
  </Card>
)

const factsOf = (delivery: NotificationDeliveryDetail): FactsByName => ({
  Channel: delivery.channel_id !== null && <ChannelLink channelId={delivery.channel_id} />,
  Kind: channelKindNames[delivery.kind],
  Attempts: delivery.attempts_count,
  "Next attempt": delivery.next_attempt_at !== null && (
    <RelativeTime at={delivery.next_attempt_at} />
  ),
  Created: <ExactTime at={delivery.created_at} />,
  Finished: delivery.finished_at !== null && <ExactTime at={delivery.finished_at} />,
  Id: <CopyableText text={delivery.id} />
})

const ChannelLink = ({ channelId }: { readonly channelId: NotificationChannelId }) => {
  const { workspaceId } = useWorkspace()
  const { data } = useQuery(channelsOptions(workspaceId))
  const name = data?.find(({ id }) => id === channelId)?.name
  if (name === undefined) return data === undefined ? <Skeleton className="h-5 w-24" /> : "Deleted"
  return (
    <Link
      to="/w/$workspaceId/notifications/channels/$channelId"
      params={{ workspaceId, channelId }}
      className="font-medium text-live underline-offset-2 hover:underline"
    >
      {stripDirectionMarks(name)}
    </Link>
  )
}
