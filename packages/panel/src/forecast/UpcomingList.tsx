import { useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { TaskLink } from "../executions/TaskLink.tsx"
import { CardList, cardRowClass } from "../ui/lists/CardList.tsx"
import { RelativeTime } from "../ui/values/Time.tsx"
import { upcomingRunName, upcomingOptions } from "./queries.ts"

export const UpcomingList = ({ limit }: { readonly limit?: number }) => {
  const { workspaceId } = useWorkspace()
  const upcoming = useQuery(upcomingOptions(workspaceId))
  return (
    <CardList
      query={{ ...upcoming, data: upcoming.data?.slice(0, limit) }}
      keyOf={({ task_id }) => task_id}
      empty="No runs are scheduled."
      height="h-40"
    >
      {(run) => (
        <TaskLink kind={run.kind} taskId={run.task_id} className={cardRowClass}>
          <span className="grow truncate">{upcomingRunName(run)}</span>
          <RelativeTime at={run.at} className="text-sm text-faint" />
        </TaskLink>
      )}
    </CardList>
  )
}
