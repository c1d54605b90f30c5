import type { Chain } from "@scheduling/sdk"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { Plus, Workflow } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { useList } from "../../data/queries.ts"
import { ButtonLink } from "../../ui/Button.tsx"
import { Choice } from "../../ui/Field.tsx"
import { Filters, NameFilter } from "../../ui/Filters.tsx"
import { type Column, List, rowLink } from "../../ui/List.tsx"
import { Empty, Page } from "../../ui/Page.tsx"
import { Problem } from "../../ui/Problem.tsx"
import { Status } from "../../ui/Status.tsx"
import { Ago } from "../../ui/Time.tsx"
import { inWords } from "../inWords.ts"
import { TaskExamples } from "../TaskExamples.tsx"
import { chainListOptions } from "./queries.ts"
import { type ChainSearch, chainSearch } from "./search.ts"
import { Only } from "../../ui/role.tsx"

export const ChainListPage = () => {
  const { workspaceId } = useWorkspace()
  const search = useSearch({ from: "/inside/w/$workspaceId/chains" })
  const navigate = useNavigate({ from: "/w/$workspaceId/chains" })
  const { error, refetch, ...list } = useList(chainListOptions(workspaceId, search))
  const narrow = (change: { readonly [Key in keyof ChainSearch]: ChainSearch[Key] | undefined }) =>
    void navigate({ search: (before) => chainSearch({ ...before, ...change }), replace: true })
  const isNarrowed = Object.keys(search).length > 0
  const create = (
    <Only role="editor">
      <ButtonLink
        to="/w/$workspaceId/chains/new"
        params={{ workspaceId }}
        look="main"
        icon={<Plus className="size-4" />}
      >
        New chain
      </ButtonLink>
    </Only>
  )
  return (
    <Page
      title="Chains"
      description="Calls that run one after another, and may use what was answered before."
      actions={create}
    >
      {(isNarrowed || list.isLoading || list.rows.length > 0) && (
        <Filters>
          <NameFilter
            label="Filter by name"
            value={search.name}
            onChange={(name) => narrow({ name })}
          />
          <Choice
            label="Status"
            value={search.status ?? "all"}
            options={[
              ["all", "All"],
              ["active", "Active"],
              ["paused", "Paused"]
            ]}
            onChange={(status) => narrow({ status: status === "all" ? undefined : status })}
          />
        </Filters>
      )}
      {error === null ? (
        <List
          {...list}
          label="Chains"
          columns={columns}
          keyOf={({ id }) => id}
          empty={
            isNarrowed ? (
              <Empty title="No chain fits the filters" />
            ) : (
              <Empty title="No chains yet" icon={<Workflow className="size-5" />} action={create}>
                <p className="mb-6">
                  A chain logs in, fetches, and reports: each step may use the answers of the steps
                  before it, and says whether it runs after a failure.
                </p>
                <TaskExamples noun="chains" input={example} />
              </Empty>
            )
          }
        />
      ) : (
        <Problem error={error} retry={refetch} />
      )}
    </Page>
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
          className={`block truncate font-medium ${rowLink}`}
        >
          {name}
        </Link>
        <span className="block truncate text-xs text-faint">
          {steps.map((step) => step.name).join(" → ")}
        </span>
      </>
    )
  },
  {
    key: "schedule",
    head: "Schedule",
    className: "w-56 shrink-0 max-lg:hidden",
    cell: ({ schedule, timezone }) =>
      schedule === null ? (
        <span className="text-faint">Only by hand</span>
      ) : (
        <>
          <span className="block truncate">{inWords(schedule)}</span>
          <span className="block truncate text-xs text-faint">
            <span className="font-mono">{schedule}</span> · {timezone}
          </span>
        </>
      )
  },
  {
    key: "next",
    head: "Next run",
    className: "w-24 shrink-0 max-sm:hidden",
    cell: ({ next_run_at, status }) =>
      status === "paused" ? (
        <span className="text-faint">Paused</span>
      ) : next_run_at === null ? (
        <span className="text-faint">–</span>
      ) : (
        <Ago at={next_run_at} />
      )
  },
  {
    key: "last",
    head: "Last run",
    className: "w-28 shrink-0",
    cell: ({ last_run }) =>
      last_run === null ? (
        <span className="text-faint">None yet</span>
      ) : (
        <>
          <Status of={last_run.status} />
          {last_run.finished_at !== null && (
            <Ago at={last_run.finished_at} className="block pl-4 text-xs text-faint" />
          )}
        </>
      )
  }
]
