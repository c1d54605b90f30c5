import type { Chain } from "@scheduling/sdk"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { Plus, Workflow } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { useList } from "../../data/queries.ts"
import { ButtonLink } from "../../ui/actions/Button.tsx"
import { type Column, rowLink, rowName } from "../../ui/lists/List.tsx"
import { scheduleColumns } from "../columns.tsx"
import { bulkOfRepeating, statusesOfRepeating } from "../schedule/repeating.tsx"
import { TaskListPage } from "../TaskListPage.tsx"
import { ChainMenu } from "./ChainMenu.tsx"
import { chainListOptions } from "./queries.ts"
import { chainSearch } from "./search.ts"

export const ChainListPage = () => {
  const { api, workspaceId } = useWorkspace()
  const search = useSearch({ from: "/inside/w/$workspaceId/chains" })
  const navigate = useNavigate({ from: "/w/$workspaceId/chains" })
  return (
    <TaskListPage
      title="Chains"
      noun="chains"
      description="Calls that run one after another, and may use what was answered before."
      create={
        <ButtonLink
          to="/w/$workspaceId/chains/new"
          params={{ workspaceId }}
          look="main"
          icon={<Plus className="size-4" />}
        >
          New chain
        </ButtonLink>
      }
      list={useList(chainListOptions(workspaceId, search))}
      columns={columns}
      search={search}
      statuses={statusesOfRepeating}
      onNarrow={(change) =>
        void navigate({ search: (before) => chainSearch({ ...before, ...change }), replace: true })
      }
      bulk={bulkOfRepeating(
        api.chains,
        "Runs that are under way are cancelled. Their executions stay readable."
      )}
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
          to="/w/$workspaceId/chains/$chainId"
          params={{ workspaceId: workspace_id, chainId: id }}
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
  {
    key: "menu",
    head: <span className="sr-only">Actions</span>,
    className: "relative w-8 shrink-0",
    cell: (chain) => <ChainMenu chain={chain} />
  }
]
