import type { DeliveryAttempt, NotificationDeliveryDetail } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { Send } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { ParentPageLink } from "../../ui/layout/ParentPageLink.tsx"
import { Button } from "../../ui/actions/Button.tsx"
import { Code } from "../../ui/values/Code.tsx"
import { CopyableText } from "../../ui/values/Copy.tsx"
import { LoadedPage } from "../../ui/messages/Loaded.tsx"
import { Card, Facts, type FactsByName, Page, Section } from "../../ui/layout/Page.tsx"
import { ApiMessage } from "../../ui/values/ApiMessage.tsx"
import { Badge, Status } from "../../ui/values/Status.tsx"
import { RelativeTime, ShortTime } from "../../ui/values/Time.tsx"
import { useNavigateAfterAction } from "../../ui/useNavigateAfterAction.ts"
import { showSuccessToast, showErrorToast } from "../../ui/messages/toast.ts"
import { channelKindNames } from "../../data/channelKindNames.ts"
import { describeEvent, deliveryTitle } from "../events.ts"
import { deliveryOptions, refetchNotifications } from "../queries.ts"
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
    <LoadedPage query={query} name="Delivery" above={above} width="narrow">
      {(delivery) => (
        <Page
          title={deliveryTitle(delivery)}
          above={above}
          width="narrow"
          actions={
            delivery.finished_at !== null &&
            delivery.status !== "dropped" && (
              <RoleGate role="editor">
                <Resend delivery={delivery} />
              </RoleGate>
            )
          }
        >
          <div className="flex flex-col gap-8">
            <Card className="p-5">
              <Facts facts={factsOf(delivery)} />
            </Card>
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
                    <ShortTime at={at} className="text-faint" />
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
      <ShortTime at={started_at} className="text-faint" />
    </p>
    {error !== null && <p className="break-words text-bad">{error}</p>}
    {finished_at === null && <p className="text-faint">The result of this attempt is unknown.</p>}
    {response_body !== null && response_body !== "" && (
      <Code label={`response to attempt ${number}`} text={response_body} wrap />
    )}
  </Card>
)

const factsOf = (delivery: NotificationDeliveryDetail): FactsByName => ({
  Status: <Status of={delivery.status} />,
  Kind: channelKindNames[delivery.kind],
  Attempts: delivery.attempts_count,
  Error: delivery.error,
  "Next attempt": <RelativeTime at={delivery.next_attempt_at} />,
  Created: <ShortTime at={delivery.created_at} />,
  Finished: <ShortTime at={delivery.finished_at} />,
  Id: <CopyableText text={delivery.id} />
})
