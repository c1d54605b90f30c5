import type { Monitor } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { IncidentList } from "../incidents/IncidentList.tsx"
import { OpenIncident } from "../incidents/OpenIncident.tsx"
import { useOpenIncident } from "../data/incidents.ts"
import { ParentPageLink } from "../ui/layout/ParentPageLink.tsx"
import { EmptyState, Page, Section } from "../ui/layout/Page.tsx"
import { Badge, Status } from "../ui/values/Status.tsx"
import { TargetText } from "../ui/values/TargetText.tsx"
import { ElapsedTime } from "../ui/values/Time.tsx"
import { MonitorHistory } from "./MonitorHistory.tsx"
import { UptimeSection } from "./UptimeSection.tsx"
import type { OldestResult } from "./history.ts"

export const MonitorListLink = ({ workspaceId }: { readonly workspaceId: string }) => (
  <ParentPageLink to="/w/$workspaceId/monitors" params={{ workspaceId }}>
    Monitors
  </ParentPageLink>
)

export const MonitorPageLayout = ({
  actions,
  aside,
  children,
  first,
  monitor,
  notice,
  oldest,
  target
}: {
  readonly monitor: Omit<Monitor, "kind">
  readonly oldest: OldestResult | undefined
  /** The URL or the server that is checked. Undefined for a monitor that checks none. */
  readonly target: string | undefined
  readonly actions: ReactNode
  readonly notice: ReactNode
  readonly aside: ReactNode
  readonly first?: ReactNode
  readonly children: ReactNode
}) => {
  const { last_change_at, name, status, tags, workspace_id: workspaceId } = monitor
  const incident = useOpenIncident(workspaceId, monitor.id)
  return (
    <Page
      name={name}
      above={<MonitorListLink workspaceId={workspaceId} />}
      title={name}
      actions={actions}
      description={
        <>
          {target !== undefined && (
            <div className="mb-1.5">
              <TargetText target={target} />
            </div>
          )}
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Status of={status} />
            {last_change_at !== null && <ElapsedTime at={last_change_at} className="text-faint" />}
            {incident !== undefined && <OpenIncident incident={incident} />}
            {tags.map((tag) => (
              <Link
                key={tag}
                to="/w/$workspaceId/monitors"
                params={{ workspaceId }}
                search={{ tag }}
              >
                <Badge>{tag}</Badge>
              </Link>
            ))}
          </span>
        </>
      }
    >
      {notice}
      <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-8">
          {first}
          {status !== "new" && <UptimeSection monitor={monitor} />}
          {status !== "new" && <MonitorHistory monitor={monitor} oldest={oldest} />}
          {children}
          <Section title="Incidents">
            <IncidentList
              search={{ subject_id: monitor.id }}
              empty={<EmptyState title="No incidents yet" />}
            />
          </Section>
        </div>
        <aside className="flex min-w-0 flex-col gap-8">{aside}</aside>
      </div>
    </Page>
  )
}
