import type { IncidentDetail, IncidentId } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { definitionOptions, describeKind } from "../data/targets.ts"
import { NobodyNotified } from "../recipients/NobodyNotified.tsx"
import { ParentPageLink } from "../ui/layout/ParentPageLink.tsx"
import { FactsSection, Page, Section } from "../ui/layout/Page.tsx"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { CopyableText } from "../ui/values/Copy.tsx"
import { ApiMessage } from "../ui/values/ApiMessage.tsx"
import { stripDirectionMarks } from "../ui/values/stripDirectionMarks.ts"
import { ShortTime } from "../ui/values/Time.tsx"
import { OtherChangesBefore, OwnChangesBefore } from "../versions/ChangesBefore.tsx"
import { SubjectLink } from "./DependsOn.tsx"
import { IncidentActions } from "./IncidentActions.tsx"
import { FailedExecution, failedExecutionOf } from "./FailedExecution.tsx"
import { IncidentDuration, IncidentList, IncidentStatus } from "./IncidentList.tsx"
import { describeIncidentCode } from "./describeIncidentCode.ts"
import { incidentOptions } from "./queries.ts"
import { IncidentTarget } from "./IncidentTarget.tsx"
import { IncidentTimeline } from "./IncidentTimeline.tsx"

export const IncidentPage = () => {
  const { workspaceId } = useWorkspace()
  const { incidentId } = useParams({ from: "/inside/w/$workspaceId/incidents/$incidentId" })
  const query = useQuery(incidentOptions(workspaceId, incidentId))
  const above = (
    <ParentPageLink to="/w/$workspaceId/incidents" params={{ workspaceId }}>
      Incidents
    </ParentPageLink>
  )
  return (
    <LoadedPage query={query} name="Incident" above={above}>
      {(incident) => {
        const failed = failedExecutionOf(incident)
        const failure = {
          subject: incident.subject,
          from: incident.timeline.find(({ type }) => type === "last_good")?.at,
          to: incident.opened_at
        }
        return (
          <Page
            name={`Incident of ${incident.subject.name}`}
            above={above}
            title={
              <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
                {stripDirectionMarks(incident.subject.name)}
                <span className="flex gap-2 text-base font-medium tracking-normal">
                  <IncidentStatus incident={incident} />
                  <span className="font-normal text-faint">
                    {durationWords[incident.status]} <IncidentDuration incident={incident} />
                  </span>
                </span>
              </span>
            }
            description={
              <div className="flex flex-col gap-1">
                <p>
                  <ApiMessage text={incident.cause.message} />
                </p>
                <IncidentTarget incident={incident} />
              </div>
            }
            actions={<IncidentActions incident={incident} />}
          >
            {incident.status !== "closed" && <NobodyNotifiedOf subject={incident.subject} />}
            <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
              <div className="flex min-w-0 flex-col gap-8">
                <OwnChangesBefore {...failure} />
                <IncidentTimeline incident={incident} />
                {failed !== undefined && <FailedExecution executionId={failed} />}
                <OtherChangesBefore {...failure} />
                <Section title="Earlier incidents">
                  <IncidentList
                    search={{ subject_id: incident.subject.id, to: incident.opened_at }}
                    empty={<p className="text-soft">No earlier incidents.</p>}
                  />
                </Section>
              </div>
              <IncidentFacts incident={incident} />
            </div>
          </Page>
        )
      }}
    </LoadedPage>
  )
}

/** The words between an incident's status and its duration. */
const durationWords = { open: "for", acknowledged: "open for", closed: "after" } as const

const NobodyNotifiedOf = ({ subject: { id, kind } }: Pick<IncidentDetail, "subject">) => {
  const { workspaceId } = useWorkspace()
  const { data } = useQuery(definitionOptions(workspaceId, { kind, id }))
  if (data === undefined) return null
  const callback = "on_failure" in data ? data.on_failure?.url : undefined
  return <NobodyNotified subject={{ kind, id, tags: data.tags, callback }} />
}

const IncidentFacts = ({ incident }: { readonly incident: IncidentDetail }) => {
  const { cause, closed_at, id, snoozed_until, status, subject, suppressed_by } = incident
  return (
    <FactsSection
      title="Incident"
      facts={{
        [describeKind(subject.kind)]: <SubjectLink subject={subject} />,
        "Error type": describeIncidentCode(cause),
        Opened: <ShortTime at={incident.opened_at} />,
        "Certificate valid until": cause.certificate_expires_at !== undefined && (
          <ShortTime at={cause.certificate_expires_at} />
        ),
        Closed: closed_at !== null && <ShortTime at={closed_at} />,
        ...(status === "open" &&
          snoozed_until !== null && { "Snoozed until": <ShortTime at={snoozed_until} /> }),
        ...(suppressed_by !== null && { "Suppressed by": <SuppressorLink id={suppressed_by} /> }),
        Id: <CopyableText text={id} />
      }}
    />
  )
}

/** A link to the incident that suppresses this incident's notifications. */
const SuppressorLink = ({ id }: { readonly id: IncidentId }) => {
  const { workspaceId } = useWorkspace()
  const { data } = useQuery(incidentOptions(workspaceId, id))
  return (
    <Link
      to="/w/$workspaceId/incidents/$incidentId"
      params={{ workspaceId, incidentId: id }}
      className="font-medium text-live underline-offset-2 hover:underline"
    >
      {data === undefined ? "another incident" : stripDirectionMarks(data.subject.name)}
    </Link>
  )
}
