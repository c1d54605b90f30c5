import type { CronTask } from "@scheduling/sdk"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { CalendarClock, Plus } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { useList } from "../../data/queries.ts"
import { ButtonLink } from "../../ui/actions/Button.tsx"
import { type Column, rowLink, rowName } from "../../ui/lists/List.tsx"
import { scheduleColumns } from "../columns.tsx"
import { bulkOfRepeating, statusesOfRepeating } from "../schedule/repeating.tsx"
import { TaskListPage } from "../TaskListPage.tsx"
import { CronMenu } from "./CronMenu.tsx"
import { cronListOptions } from "./queries.ts"
import { cronSearch } from "./search.ts"

export const CronListPage = () => {
  const { api, workspaceId } = useWorkspace()
  const search = useSearch({ from: "/inside/w/$workspaceId/cron" })
  const navigate = useNavigate({ from: "/w/$workspaceId/cron" })
  return (
    <TaskListPage
      title="Cron tasks"
      noun="cron"
      description="HTTP calls that repeat on a schedule."
      create={
        <ButtonLink
          to="/w/$workspaceId/cron/new"
          params={{ workspaceId }}
          look="main"
          icon={<Plus className="size-4" />}
        >
          New cron task
        </ButtonLink>
      }
      list={useList(cronListOptions(workspaceId, search))}
      columns={columns}
      search={search}
      statuses={statusesOfRepeating}
      onNarrow={(change) =>
        void navigate({ search: (before) => cronSearch({ ...before, ...change }), replace: true })
      }
      bulk={bulkOfRepeating(
        api.cron,
        "They stop firing, and runs that are queued or running are cancelled. Their executions stay readable."
      )}
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
  {
    key: "menu",
    head: <span className="sr-only">Actions</span>,
    className: "relative w-8 shrink-0",
    cell: (task) => <CronMenu task={task} />
  }
]
