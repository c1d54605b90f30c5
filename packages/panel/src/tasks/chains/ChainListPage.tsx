import type { Chain } from "@scheduling/sdk"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { Workflow } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { useList } from "../../data/queries.ts"
import { type Column, rowLink, rowName } from "../../ui/lists/List.tsx"
import { menuColumn, scheduleColumns } from "../columns.tsx"
import { statusesOfRepeating, useBulkActions } from "../repeating.tsx"
import { repeatingSearch } from "../search.ts"
import { TaskListPage } from "../TaskListPage.tsx"
import { chainKind } from "./chainKind.ts"
import { chainQueries } from "./queries.ts"

export const ChainListPage = () => {
  const { workspaceId } = useWorkspace()
  const search = useSearch({ from: "/inside/w/$workspaceId/chains" })
  const navigate = useNavigate({ from: "/w/$workspaceId/chains" })
  return (
    <TaskListPage
      words={chainKind}
      description="Calls that run one after another, and may use what was answered before."
      list={useList(chainQueries.list(workspaceId, search))}
      columns={columns}
      search={search}
      statuses={statusesOfRepeating}
      onNarrow={(change) =>
        void navigate({
          search: (before) => repeatingSearch({ ...before, ...change }),
          replace: true
        })
      }
      bulk={useBulkActions(chainKind)}
      icon={<Workflow className="size-5" />}
      about="A chain logs in, fetches, and reports: each step may use the answers of the steps before it, and says whether it runs after a failure."
      example={example}
    />
  )
}

const example = {
  name: "Nightly export",
  steps: [
    { name: "login", url: "https://api.example.com/login", body: "{}" },
    {
      name: "export",
      url: "https://api.example.com/export",
      body: '{"token":"{{ steps.login.body.token }}"}'
    }
  ]
}

const columns: ReadonlyArray<Column<Chain>> = [
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: ({ id, name, steps, workspace_id }) => (
      <>
        <Link
          to="/w/$workspaceId/chains/$taskId"
          params={{ workspaceId: workspace_id, taskId: id }}
          className={`${rowName} ${rowLink}`}
        >
          {name}
        </Link>
        <span className="block truncate text-xs text-faint max-sm:hidden">
          {steps.map((step) => step.name).join(" → ")}
        </span>
      </>
    )
  },
  ...scheduleColumns,
  menuColumn(chainKind)
]
