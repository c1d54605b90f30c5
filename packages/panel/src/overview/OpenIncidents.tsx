import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { openIncidentsOptions } from "../data/incidents.ts"
import { monitorCountsOptions } from "../monitors/queries.ts"
import { Section } from "../ui/layout/Page.tsx"
import { CardList, cardRowClass } from "../ui/lists/CardList.tsx"
import { Message } from "../ui/values/Message.tsx"
import { Dot } from "../ui/values/Status.tsx"
import { stripDirectionMarks } from "../ui/values/stripDirectionMarks.ts"
import { RelativeTime } from "../ui/values/Time.tsx"

const sum = (counts: ReadonlyArray<number>) => counts.reduce((total, count) => total + count, 0)

export const OpenIncidents = () => {
  const { workspaceId } = useWorkspace()
  const open = useQuery(openIncidentsOptions(workspaceId))
  const { data: counts } = useQuery({
    ...monitorCountsOptions(workspaceId),
    enabled: open.data?.data.length === 0
  })
  const monitors = counts === undefined ? undefined : sum(Object.values(counts))
  return (
    <Section title="Open incidents">
      <CardList
        query={{ ...open, data: open.data?.data }}
        keyOf={({ id }) => id}
        empty={
          <>
            <Dot tone={monitors === undefined || monitors === 0 ? "none" : "ok"} />
            {monitors === 0 ? "This workspace has no monitors yet." : "No incident is open."}
          </>
        }
      >
        {({ acknowledged_at, cause, id, opened_at, subject }) => (
          <Link
            to="/w/$workspaceId/incidents/$incidentId"
            params={{ workspaceId, incidentId: id }}
            className={cardRowClass}
          >
            <Dot tone={acknowledged_at === null ? "bad" : "warn"} />
            <span className="min-w-0 grow">
              <span className="block truncate font-medium">
                {stripDirectionMarks(subject.name)}
              </span>
              <span className="block truncate text-xs text-faint">
                <Message text={cause.message} />
              </span>
            </span>
            <RelativeTime at={opened_at} className="text-sm text-faint" />
          </Link>
        )}
      </CardList>
    </Section>
  )
}
