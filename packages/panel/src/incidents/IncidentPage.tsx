import type { IncidentDetail, IncidentSubject } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { taskLink } from "../data/tasks.ts"
import { AboveLink } from "../ui/layout/AboveLink.tsx"
import { Card, Facts, Page } from "../ui/layout/Page.tsx"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { CopyText } from "../ui/values/Copy.tsx"
import { Message } from "../ui/values/Message.tsx"
import { Badge } from "../ui/values/Status.tsx"
import { stripDirectionMarks } from "../ui/values/stripDirectionMarks.ts"
import { At } from "../ui/values/Time.tsx"
import { IncidentActions } from "./IncidentActions.tsx"
import { IncidentStatus, IncidentDuration } from "./IncidentList.tsx"
import { incidentOptions } from "./queries.ts"
import { IncidentTimeline } from "./IncidentTimeline.tsx"

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
          title={stripDirectionMarks(incident.subject.name)}
          description={<Message text={incident.cause.message} />}
          actions={<IncidentActions incident={incident} />}
        >
          <div className="flex flex-col gap-8">
            <Card className="p-5">
              <IncidentFacts incident={incident} />
            </Card>
            <IncidentTimeline incident={incident} />
          </div>
        </Page>
      )}
    </LoadedPage>
  )
}

const IncidentFacts = ({ incident }: { readonly incident: IncidentDetail }) => {
  const { cause, closed_at, id, snoozed_until, status, subject } = incident
  const isTask = subject.kind === "cron" || subject.kind === "chain"
  return (
    <Facts
      facts={{
        Status: <IncidentStatus incident={incident} />,
        Cause: <Badge>{cause.code.replaceAll("_", " ")}</Badge>,
        Opened: <At at={incident.opened_at} />,
        Resolved: closed_at === null ? "Not yet" : <At at={closed_at} />,
        Duration: <IncidentDuration incident={incident} />,
        ...(status === "open" &&
          snoozed_until !== null && { "Snoozed until": <At at={snoozed_until} /> }),
        [isTask ? "Task" : "Monitor"]: <SubjectLink subject={subject} />,
        Id: <CopyText text={id} />
      }}
    />
  )
}

const SubjectLink = ({ subject: { id, kind, name } }: { readonly subject: IncidentSubject }) => {
  const { workspaceId } = useWorkspace()
  const link =
    kind === "cron" || kind === "chain"
      ? taskLink(workspaceId, kind, id)
      : {
          to: "/w/$workspaceId/monitors/$kind/$monitorId" as const,
          params: { workspaceId, kind, monitorId: id }
        }
  return (
    <Link {...link} className="font-medium text-live underline-offset-2 hover:underline">
      {stripDirectionMarks(name)}
    </Link>
  )
}
