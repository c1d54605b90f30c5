import type { DelayedTask } from "@scheduling/sdk"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { Ban, Timer } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { useList } from "../../data/queries.ts"
import { unnamed } from "../../data/tasks.ts"
import { type Column, rowLink } from "../../ui/lists/List.tsx"
import { Ago, At } from "../../ui/values/Time.tsx"
import { TaskListPage } from "../TaskListPage.tsx"
import { DelayedStatus } from "./DelayedStatus.tsx"
import { delayedQueries, delayedWords } from "./queries.ts"
import { delayedSearch } from "../search.ts"

export const DelayedListPage = () => {
  const { api, workspaceId } = useWorkspace()
  const search = useSearch({ from: "/inside/w/$workspaceId/delayed" })
  const navigate = useNavigate({ from: "/w/$workspaceId/delayed" })
  return (
    <TaskListPage
      words={delayedWords}
      description="Single HTTP calls, up to a year ahead."
      list={useList(delayedQueries.list(workspaceId, search))}
      columns={columns}
      search={search}
      statuses={[
        ["pending", "Pending"],
        ["finished", "Finished"],
        ["cancelled", "Cancelled"]
      ]}
      onNarrow={(change) =>
        void navigate({
          search: (before) => delayedSearch({ ...before, ...change }),
          replace: true
        })
      }
      bulk={[
        {
          name: "Cancel",
          icon: <Ban className="size-3.5" />,
          done: "was cancelled",
          act: ({ id }) => api.delayed.remove(id),
          warning: "They will not run. They stay listed as cancelled."
        }
      ]}
      icon={<Timer className="size-5" />}
      about="A delayed task makes one call at a time that you choose: a reminder in three days, an order that is cancelled unless it is paid."
      example={example}
    />
  )
}

const example = {
  name: "Remind Ada",
  delay_seconds: 3600,
  url: "https://api.example.com/reminders/17"
}

const columns: ReadonlyArray<Column<DelayedTask>> = [
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: (task) => (
      <>
        <Link
          to="/w/$workspaceId/delayed/$taskId"
          params={{ workspaceId: task.workspace_id, taskId: task.id }}
          className={`${rowLink} block truncate font-medium`}
        >
          {task.name ?? unnamed(task.url)}
        </Link>
        <span className="block truncate font-mono text-xs text-faint max-sm:hidden">
          {task.method} {task.url}
        </span>
        <span className="block text-sm sm:hidden">
          <DelayedStatus of={task} />
        </span>
      </>
    )
  },
  {
    key: "status",
    head: "Status",
    className: "w-28 shrink-0 max-sm:hidden",
    cell: (task) => <DelayedStatus of={task} />
  },
  {
    key: "when",
    head: "Runs",
    className: "w-28 shrink-0",
    cell: ({ run_at }) => (
      <>
        <Ago at={run_at} className="block" />
        <At at={run_at} className="block text-xs text-faint" />
      </>
    )
  }
]
