import type { IncidentDetail } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { Check } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { kindNames } from "../data/kindNames.ts"
import { useChannelNames, useMemberNames } from "../data/names.ts"
import { Button } from "../ui/actions/Button.tsx"
import { AboveLink } from "../ui/layout/AboveLink.tsx"
import { Card, Facts, Page, Section } from "../ui/layout/Page.tsx"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { attempt } from "../ui/messages/toast.ts"
import { Only } from "../ui/role.tsx"
import { CopyText } from "../ui/values/Copy.tsx"
import { Message } from "../ui/values/Message.tsx"
import { Badge, Status } from "../ui/values/Status.tsx"
import { At } from "../ui/values/Time.tsx"
import { IncidentStatus, IncidentDuration, MonitorName } from "./IncidentList.tsx"
import { incidentOptions, incidentsChanged } from "./queries.ts"

export const IncidentPage = () => {
  const { workspaceId } = useWorkspace()
  const { incidentId } = useParams({ from: "/inside/w/$workspaceId/incidents/$incidentId" })
  const query = useQuery(incidentOptions(workspaceId, incidentId))
  const above = (
    <AboveLink to="/w/$workspaceId/incidents" params={{ workspaceId }}>
      Incidents
    </AboveLink>
  )
  return (
    <LoadedPage query={query} name="Incident" above={above} width="narrow">
      {(incident) => (
        <Page
          name="Incident"
          above={above}
          width="narrow"
          title={<MonitorName monitorId={incident.monitor_id} />}
          description={<Message text={incident.cause.message} />}
          actions={<Acknowledge incident={incident} />}
        >
          <div className="flex flex-col gap-8">
            <Card className="p-5">
              <IncidentFacts incident={incident} />
            </Card>
            <Deliveries incident={incident} />
          </div>
        </Page>
      )}
    </LoadedPage>
  )
}

const Acknowledge = ({
  incident: { acknowledged_at, closed_at, id }
}: {
  readonly incident: IncidentDetail
}) => {
  const { api, workspaceId } = useWorkspace()
  if (acknowledged_at !== null || closed_at !== null) return null
  return (
    <Only role="editor">
      <Button
        look="main"
        icon={<Check />}
        onClick={async () => {
          await attempt(() => api.incidents.acknowledge(id), "The incident was acknowledged")
          await incidentsChanged(workspaceId)
        }}
      >
        Acknowledge incident
      </Button>
    </Only>
  )
}

const IncidentFacts = ({ incident }: { readonly incident: IncidentDetail }) => {
  const { acknowledged_at, acknowledged_by, cause, closed_at, id, kind, monitor_id } = incident
  const { workspaceId } = useWorkspace()
  const names = useMemberNames(workspaceId)
  return (
    <Facts
      facts={{
        Status: <IncidentStatus incident={incident} />,
        Cause: <Badge>{cause.code.replaceAll("_", " ")}</Badge>,
        Opened: <At at={incident.opened_at} />,
        Resolved: closed_at === null ? "Not yet" : <At at={closed_at} />,
        Duration: <IncidentDuration incident={incident} />,
        Acknowledged:
          acknowledged_at === null ? (
            "Not yet"
          ) : (
            <>
              <At at={acknowledged_at} /> by{" "}
              {names.get(acknowledged_by ?? "") ?? "an API key or a former member"}
            </>
          ),
        Monitor: (
          <Link
            to="/w/$workspaceId/monitors/$kind/$monitorId"
            params={{ workspaceId, kind, monitorId: monitor_id }}
            className="font-medium text-live underline-offset-2 hover:underline"
          >
            <MonitorName monitorId={monitor_id} />
          </Link>
        ),
        Id: <CopyText text={id} />
      }}
    />
  )
}

const Deliveries = ({
  incident: { deliveries, workspace_id }
}: {
  readonly incident: IncidentDetail
}) => {
  const names = useChannelNames(workspace_id)
  return (
    <Section title="Notifications">
      <Card className="divide-y divide-line">
        {deliveries.map(({ channel_id, created_at, id, kind, status }) => (
          <Link
            key={id}
            to="/w/$workspaceId/notifications/deliveries/$deliveryId"
            params={{ workspaceId: workspace_id, deliveryId: id }}
            className="flex items-center gap-4 px-5 py-3 transition-colors duration-75 hover:bg-sunken/60"
          >
            <span className="w-28 shrink-0">
              <Status of={status} />
            </span>
            <span className="min-w-0 grow truncate">
              {names.get(channel_id) ?? kindNames[kind]}
            </span>
            <At at={created_at} className="text-faint" />
          </Link>
        ))}
        {deliveries.length === 0 && (
          <p className="px-5 py-4 text-faint">
            Nobody was notified. Notification rules decide which channels receive the incidents of a
            monitor.
          </p>
        )}
      </Card>
    </Section>
  )
}
