import type { CronTask } from "@scheduling/sdk"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { CalendarClock, Plus } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { useList } from "../../data/queries.ts"
import { ButtonLink } from "../../ui/Button.tsx"
import { Choice } from "../../ui/Field.tsx"
import { Filters, NameFilter } from "../../ui/Filters.tsx"
import { type Column, List, rowLink } from "../../ui/List.tsx"
import { Empty, Page } from "../../ui/Page.tsx"
import { Problem } from "../../ui/Problem.tsx"
import { Status } from "../../ui/Status.tsx"
import { Ago, None } from "../../ui/Time.tsx"
import { inWords } from "../inWords.ts"
import { TaskExamples } from "../TaskExamples.tsx"
import { CronMenu } from "./CronMenu.tsx"
import { cronListOptions } from "./queries.ts"
import { type CronSearch, cronSearch } from "./search.ts"
import { Only } from "../../ui/role.tsx"

export const CronListPage = () => {
  const { workspaceId } = useWorkspace()
  const search = useSearch({ from: "/inside/w/$workspaceId/cron" })
  const navigate = useNavigate({ from: "/w/$workspaceId/cron" })
  const { error, refetch, ...list } = useList(cronListOptions(workspaceId, search))
  const narrow = (change: { readonly [Key in keyof CronSearch]: CronSearch[Key] | undefined }) =>
    void navigate({ search: (before) => cronSearch({ ...before, ...change }), replace: true })
  const isNarrowed = search.name !== undefined || search.status !== undefined
  const create = (
    <Only role="editor">
      <ButtonLink
        to="/w/$workspaceId/cron/new"
        params={{ workspaceId }}
        look="main"
        icon={<Plus className="size-4" />}
      >
        New cron task
      </ButtonLink>
    </Only>
  )
  return (
    <Page title="Cron tasks" description="HTTP calls that repeat on a schedule." actions={create}>
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
          label="Cron tasks"
          columns={columns}
          keyOf={({ id }) => id}
          empty={
            isNarrowed ? (
              <Empty title="No task fits the filters" />
            ) : (
              <Empty
                title="No cron tasks yet"
                icon={<CalendarClock className="size-5" />}
                action={create}
              >
                <p className="mb-6">
                  A cron task calls a URL on a schedule, retries what fails, and keeps what was
                  answered.
                </p>
                <TaskExamples noun="cron" input={example} />
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
          className={`block truncate font-medium ${rowLink}`}
        >
          {name}
        </Link>
        <span className="block truncate font-mono text-xs text-faint">
          {method} {url}
        </span>
      </>
    )
  },
  {
    key: "schedule",
    head: "Schedule",
    className: "w-56 shrink-0 max-lg:hidden",
    cell: ({ schedule, timezone }) => (
      <>
        <span className="block truncate" title={inWords(schedule)}>
          {inWords(schedule)}
        </span>
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
        <None />
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
  },
  {
    key: "menu",
    head: <span className="sr-only">Actions</span>,
    className: "relative w-8 shrink-0",
    cell: (task) => <CronMenu task={task} />
  }
]
