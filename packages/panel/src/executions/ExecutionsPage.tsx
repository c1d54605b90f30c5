import { useNavigate, useSearch } from "@tanstack/react-router"
import { Activity, Plus, X } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { useIsLive } from "../data/live.ts"
import { Button, ButtonLink } from "../ui/actions/Button.tsx"
import { Choice, Select } from "../ui/forms/Field.tsx"
import { Filters } from "../ui/lists/Filters.tsx"
import { dateTime } from "../ui/values/format.ts"
import { Empty, Page } from "../ui/layout/Page.tsx"
import { Only } from "../ui/role.tsx"
import { Dot } from "../ui/values/Status.tsx"
import { ExecutionList } from "./ExecutionList.tsx"
import { ExecutionTabs } from "./ExecutionTabs.tsx"
import { RunThese } from "./RunThese.tsx"
import { type ExecutionSearch, executionSearch, rerunFilter, statuses } from "./search.ts"
import { TaskName } from "./TaskName.tsx"

export const ExecutionsPage = () => {
  const { workspaceId } = useWorkspace()
  const search = useSearch({ from: "/inside/w/$workspaceId/executions" })
  const navigate = useNavigate({ from: "/w/$workspaceId/executions" })
  const isLive = useIsLive()
  const narrow = (change: {
    readonly [Key in keyof ExecutionSearch]: ExecutionSearch[Key] | undefined
  }) =>
    void navigate({ search: (before) => executionSearch({ ...before, ...change }), replace: true })
  const isNarrowed = Object.keys(search).length > 0
  const { from, task_id, to } = search
  const again = rerunFilter(search)
  return (
    <Page
      title="Executions"
      description="Every call that was made, with what was answered."
      actions={
        <>
          {isLive && (
            <span className="flex h-9 items-center gap-2 text-sm text-soft">
              <Dot tone="live" />
              Live
            </span>
          )}
          {again !== undefined && (
            <Only role="editor">
              <RunThese filter={again} />
            </Only>
          )}
        </>
      }
    >
      <ExecutionTabs />
      <Filters>
        <Choice
          label="Kind"
          value={search.kind ?? "all"}
          options={[
            ["all", "All"],
            ["cron", "Cron"],
            ["delayed", "Delayed"],
            ["chain", "Chains"]
          ]}
          onChange={(kind) => narrow({ kind: kind === "all" ? undefined : kind })}
        />
        <Select
          aria-label="Status"
          value={search.status ?? ""}
          options={[["", "Any status"], ...statuses.map((status) => [status, status] as const)]}
          onChange={(event) =>
            narrow({ status: executionSearch({ status: event.target.value }).status })
          }
        />
        {task_id !== undefined && (
          <Button
            icon={<X className="size-3.5" />}
            onClick={() => narrow({ task_id: undefined })}
            aria-label="Clear the task filter"
          >
            <span className="max-w-48 truncate">
              <TaskName workspaceId={workspaceId} taskId={task_id} />
            </span>
          </Button>
        )}
        {(from !== undefined || to !== undefined) && (
          <Button
            icon={<X className="size-3.5" />}
            onClick={() => narrow({ from: undefined, to: undefined })}
            aria-label="Clear the time filter"
          >
            {from === undefined ? "" : dateTime(from)} – {to === undefined ? "now" : dateTime(to)}
          </Button>
        )}
      </Filters>
      <ExecutionList
        search={search}
        showsTask
        empty={
          isNarrowed ? (
            <Empty title="No execution fits the filters" />
          ) : (
            <Empty
              title="Nothing has run yet"
              icon={<Activity className="size-5" />}
              action={<Begin />}
            >
              What your tasks do appears here, as it happens.
            </Empty>
          )
        }
      />
    </Page>
  )
}

/** What makes something run. */
const Begin = () => {
  const { workspaceId } = useWorkspace()
  const params = { workspaceId }
  return (
    <Only role="editor">
      <ButtonLink
        to="/w/$workspaceId/cron/new"
        params={params}
        look="main"
        icon={<Plus className="size-4" />}
      >
        New cron task
      </ButtonLink>
      <ButtonLink to="/w/$workspaceId/delayed/new" params={params}>
        New delayed task
      </ButtonLink>
      <ButtonLink to="/w/$workspaceId/chains/new" params={params}>
        New chain
      </ButtonLink>
    </Only>
  )
}
