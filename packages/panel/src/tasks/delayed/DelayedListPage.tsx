import type { DelayedTask } from "@scheduling/sdk"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { Plus, Timer } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { useList } from "../../data/queries.ts"
import { unnamed } from "../../data/tasks.ts"
import { ButtonLink } from "../../ui/Button.tsx"
import { Choice } from "../../ui/Field.tsx"
import { Filters, NameFilter } from "../../ui/Filters.tsx"
import { type Column, List, rowLink } from "../../ui/List.tsx"
import { Empty, Page } from "../../ui/Page.tsx"
import { Problem } from "../../ui/Problem.tsx"
import { Status } from "../../ui/Status.tsx"
import { Ago, At } from "../../ui/Time.tsx"
import { TaskExamples } from "../TaskExamples.tsx"
import { delayedListOptions } from "./queries.ts"
import { type DelayedSearch, delayedSearch } from "./search.ts"
import { Only } from "../../ui/role.tsx"

export const DelayedListPage = () => {
  const { workspaceId } = useWorkspace()
  const search = useSearch({ from: "/inside/w/$workspaceId/delayed" })
  const navigate = useNavigate({ from: "/w/$workspaceId/delayed" })
  const { error, refetch, ...list } = useList(delayedListOptions(workspaceId, search))
  const narrow = (change: {
    readonly [Key in keyof DelayedSearch]: DelayedSearch[Key] | undefined
  }) =>
    void navigate({ search: (before) => delayedSearch({ ...before, ...change }), replace: true })
  const isNarrowed = Object.keys(search).length > 0
  const create = (
    <Only role="editor">
      <ButtonLink
        to="/w/$workspaceId/delayed/new"
        params={{ workspaceId }}
        look="main"
        icon={<Plus className="size-4" />}
      >
        New delayed task
      </ButtonLink>
    </Only>
  )
  return (
    <Page
      title="Delayed tasks"
      description="Single HTTP calls, up to a year ahead."
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
              ["pending", "Pending"],
              ["finished", "Finished"],
              ["cancelled", "Cancelled"]
            ]}
            onChange={(status) => narrow({ status: status === "all" ? undefined : status })}
          />
        </Filters>
      )}
      {error === null ? (
        <List
          {...list}
          label="Delayed tasks"
          columns={columns}
          keyOf={({ id }) => id}
          empty={
            isNarrowed ? (
              <Empty title="No task fits the filters" />
            ) : (
              <Empty
                title="No delayed tasks yet"
                icon={<Timer className="size-5" />}
                action={create}
              >
                <p className="mb-6">
                  A delayed task makes one call at a time that you choose: a reminder in three days,
                  an order that is cancelled unless it is paid.
                </p>
                <TaskExamples noun="delayed" input={example} />
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
  name: "Remind Ada",
  delay_seconds: 3600,
  url: "https://api.example.com/reminders/17"
}

const columns: ReadonlyArray<Column<DelayedTask>> = [
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: ({ id, method, name, url, workspace_id }) => (
      <>
        <Link
          to="/w/$workspaceId/delayed/$taskId"
          params={{ workspaceId: workspace_id, taskId: id }}
          className={`block truncate font-medium ${rowLink}`}
        >
          {name ?? unnamed(url)}
        </Link>
        <span className="block truncate font-mono text-xs text-faint">
          {method} {url}
        </span>
      </>
    )
  },
  {
    key: "status",
    head: "Status",
    className: "w-28 shrink-0",
    cell: ({ last_run, status }) =>
      status === "finished" && last_run !== null ? (
        <Status of={last_run.status} />
      ) : (
        <Status of={status} />
      )
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
