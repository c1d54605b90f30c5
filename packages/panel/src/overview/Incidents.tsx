import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { openIncidentsOptions } from "../data/incidents.ts"
import { monitorCountsOptions } from "../monitors/queries.ts"
import { MonitorName } from "../incidents/MonitorName.tsx"
import { Card, Section, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { Message } from "../ui/values/Message.tsx"
import { Dot } from "../ui/values/Status.tsx"
import { Ago } from "../ui/values/Time.tsx"

const sum = (counts: ReadonlyArray<number>) => counts.reduce((total, count) => total + count, 0)

/** What is down right now. */
export const Incidents = () => {
  const { workspaceId } = useWorkspace()
  const { data: open, error } = useQuery(openIncidentsOptions(workspaceId))
  const data = open?.data
  const { data: monitors } = useQuery({
    ...monitorCountsOptions(workspaceId),
    enabled: data?.length === 0
  })
  const watched = monitors === undefined ? undefined : sum(Object.values(monitors))
  return (
    <Section title="Open incidents">
      {error !== null ? (
        <Problem error={error} />
      ) : data === undefined ? (
        <Skeleton className="h-14" />
      ) : data.length === 0 ? (
        <Card className="flex items-center gap-2.5 px-4 py-3.5 text-soft">
          <Dot tone={watched === undefined || watched === 0 ? "none" : "ok"} />
          {watched === 0 ? "No monitor watches anything yet." : "Nothing is down."}
        </Card>
      ) : (
        <Card>
          <ul className="divide-y divide-line">
            {data.map(({ acknowledged_at, cause, id, monitor_id, opened_at }) => (
              <li key={id}>
                <Link
                  to="/w/$workspaceId/incidents/$incidentId"
                  params={{ workspaceId, incidentId: id }}
                  className="flex items-baseline gap-3 px-4 py-2.5 transition-colors duration-75 hover:bg-sunken/60"
                >
                  <Dot tone={acknowledged_at === null ? "bad" : "warn"} />
                  <span className="min-w-0 grow">
                    <span className="block truncate font-medium">
                      <MonitorName monitorId={monitor_id} />
                    </span>
                    <span className="block truncate text-xs text-faint">
                      <Message text={cause.message} />
                    </span>
                  </span>
                  <Ago at={opened_at} className="text-sm text-faint" />
                </Link>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </Section>
  )
}
