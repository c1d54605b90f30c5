import type { IncidentDetail } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { Check } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { useChannelNames, useMemberNames } from "../data/names.ts"
import { AboveLink } from "../ui/layout/AboveLink.tsx"
import { Button } from "../ui/actions/Button.tsx"
import { CopyText } from "../ui/values/Copy.tsx"
import { Loaded } from "../ui/messages/Loaded.tsx"
import { Card, Facts, Page, Section } from "../ui/layout/Page.tsx"
import { Message } from "../ui/values/Message.tsx"
import { Badge, Status } from "../ui/values/Status.tsx"
import { At } from "../ui/values/Time.tsx"
import { attempt } from "../ui/messages/toast.ts"
import { IncidentStatus, Lasted } from "./IncidentList.tsx"
import { MonitorName } from "./MonitorName.tsx"
import { incidentOptions, incidentsChanged } from "./queries.ts"
import { kindName } from "../data/kindName.ts"
import { Only } from "../ui/role.tsx"

export const IncidentPage = () => {
  const { workspaceId } = useWorkspace()
  const { incidentId } = useParams({ from: "/inside/w/$workspaceId/incidents/$incidentId" })
  const above = (
    <AboveLink to="/w/$workspaceId/incidents" params={{ workspaceId }}>
      Incidents
    </AboveLink>
  )
  return (
    <Loaded
      query={useQuery(incidentOptions(workspaceId, incidentId))}
      name="Incident"
      above={above}
      width="narrow"
    >
      {(incident) => (
        <Page
          name="Incident"
          above={above}
          width="narrow"
          title={<MonitorName monitorId={incident.monitor_id} />}
          description={<Message text={incident.cause.message} />}
          actions={incident.closed_at === null && <Acknowledge incident={incident} />}
        >
          <div className="flex flex-col gap-8">
            <Card className="p-5">
              <IncidentFacts incident={incident} />
            </Card>
            <Deliveries incident={incident} />
          </div>
        </Page>
      )}
    </Loaded>
  )
}

const Acknowledge = ({
  incident: { acknowledged_at, id }
}: {
  readonly incident: IncidentDetail
}) => {
  const { api, workspaceId } = useWorkspace()
  if (acknowledged_at !== null) return null
  return (
    <Only role="editor">
      <Button
        look="main"
        icon={<Check className="size-4" />}
        onClick={async () => {
          await attempt(() => api.incidents.acknowledge(id), "Acknowledged")
          await incidentsChanged(workspaceId)
        }}
      >
        Acknowledge
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
      facts={[
        ["Status", <IncidentStatus key="0" incident={incident} />],
        ["Cause", <Badge key="1">{cause.code.replaceAll("_", " ")}</Badge>],
        ["Began", <At key="2" at={incident.opened_at} />],
        ["Ended", closed_at === null ? "Not yet" : <At key="3" at={closed_at} />],
        ["Lasted", <Lasted key="4" incident={incident} />],
        [
          "Acknowledged",
          acknowledged_at === null ? (
            "By nobody"
          ) : (
            <>
              <At at={acknowledged_at} /> by{" "}
              {names.get(acknowledged_by ?? "") ?? "an API key, or somebody who has left"}
            </>
          )
        ],
        [
          "Monitor",
          <Link
            key="5"
            to="/w/$workspaceId/monitors/$kind/$monitorId"
            params={{ workspaceId, kind, monitorId: monitor_id }}
            className="font-medium text-live underline-offset-2 hover:underline"
          >
            <MonitorName monitorId={monitor_id} />
          </Link>
        ],
        ["Id", <CopyText key="6" text={id} />]
      ]}
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
    <Section title="Notified">
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
            <span className="min-w-0 grow truncate">{names.get(channel_id) ?? kindName(kind)}</span>
            <At at={created_at} className="text-faint" />
          </Link>
        ))}
        {deliveries.length === 0 && (
          <p className="px-5 py-4 text-faint">
            Nobody. A notification rule decides who is told about monitors.
          </p>
        )}
      </Card>
    </Section>
  )
}
