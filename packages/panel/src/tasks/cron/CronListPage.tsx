import type { CronTask } from "@scheduling/sdk"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { CalendarClock } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { useList } from "../../data/queries.ts"
import { type Column, rowLink, rowName } from "../../ui/lists/List.tsx"
import { menuColumn, scheduleColumns } from "../columns.tsx"
import { statusesOfRepeating, useBulkActions } from "../repeating.tsx"
import { repeatingSearch } from "../search.ts"
import { TaskListPage } from "../TaskListPage.tsx"
import { cronKind } from "./cronKind.ts"
import { cronQueries } from "./queries.ts"

export const CronListPage = () => {
  const { workspaceId } = useWorkspace()
  const search = useSearch({ from: "/inside/w/$workspaceId/cron" })
  const navigate = useNavigate({ from: "/w/$workspaceId/cron" })
  return (
    <TaskListPage
      words={cronKind}
      description="HTTP calls that repeat on a schedule."
      list={useList(cronQueries.list(workspaceId, search))}
      columns={columns}
      search={search}
      statuses={statusesOfRepeating}
      onNarrow={(change) =>
        void navigate({
          search: (before) => repeatingSearch({ ...before, ...change }),
          replace: true
        })
      }
      bulk={useBulkActions(cronKind)}
      icon={<CalendarClock className="size-5" />}
      about="A cron task calls a URL on a schedule, retries what fails, and keeps what was answered."
      example={example}
    />
  )
}

const example = {
  name: "Nightly report",
  schedule: "0 3 * * *",
  url: "https://api.example.com/jobs/nightly"
}

const columns: ReadonlyArray<Column<CronTask>> = [
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: ({ id, method, name, url, workspace_id }) => (
      <>
        <Link
          to="/w/$workspaceId/cron/$taskId"
          params={{ workspaceId: workspace_id, taskId: id }}
          className={`${rowName} ${rowLink}`}
        >
          {name}
        </Link>
        <span className="block truncate font-mono text-xs text-faint max-sm:hidden">
          {method} {url}
        </span>
      </>
    )
  },
  ...scheduleColumns,
  menuColumn(cronKind)
]
