import { useQuery } from "@tanstack/react-query"
import { clientOf, useWorkspace } from "../data/client.ts"
import { Card, Section, Skeleton } from "../ui/Page.tsx"
import { Problem } from "../ui/Problem.tsx"
import { Dot } from "../ui/Status.tsx"
import { Ago } from "../ui/Time.tsx"

/** What is down right now. */
export const Incidents = () => {
  const { workspaceId } = useWorkspace()
  const { data, error } = useQuery({
    queryKey: ["w", workspaceId, "incidents", "open"],
    queryFn: async ({ signal }) => {
      const page = await clientOf(workspaceId).incidents.list(
        { open: "true", limit: 10 },
        { signal }
      )
      return page.data
    }
  })
  return (
    <Section title="Open incidents">
      {error !== null ? (
        <Problem error={error} />
      ) : data === undefined ? (
        <Skeleton className="h-14" />
      ) : data.length === 0 ? (
        <Card className="flex items-center gap-2.5 px-4 py-3.5 text-soft">
          <Dot tone="ok" />
          Nothing is down.
        </Card>
      ) : (
        <Card>
          <ul className="divide-y divide-line">
            {data.map(({ cause, id, opened_at }) => (
              <li key={id} className="flex items-baseline gap-3 px-4 py-3">
                <Dot tone="bad" />
                <span className="min-w-0 grow break-words">{cause.message}</span>
                <Ago at={opened_at} className="text-sm text-faint" />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </Section>
  )
}
