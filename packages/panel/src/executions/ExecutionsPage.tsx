import { Activity, Plus, X } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { useIsLive } from "../data/live.ts"
import { taskKinds } from "../data/tasks.ts"
import { Button, ButtonLink } from "../ui/actions/Button.tsx"
import { Choice, Select } from "../ui/forms/Field.tsx"
import { Empty, Page } from "../ui/layout/Page.tsx"
import { Filters } from "../ui/lists/Filters.tsx"
import { useFilters } from "../ui/lists/useFilters.ts"
import { Only } from "../ui/role.tsx"
import { capital, dateTime } from "../ui/values/format.ts"
import { Dot } from "../ui/values/Status.tsx"
import { ExecutionList } from "./ExecutionList.tsx"
import { ExecutionTabs } from "./ExecutionTabs.tsx"
import { ExecutionTotal, MoreFilters } from "./MoreFilters.tsx"
import { RunThese } from "./RunThese.tsx"
import { executionSearch, rerunFilter, statuses } from "./search.ts"
import { TaskName } from "./TaskLink.tsx"

export const ExecutionsPage = () => {
  const isLive = useIsLive()
  const { filter, isFiltered, search } = useFilters(executionSearch)
  const { from, task_id, to } = search
  const rerun = rerunFilter(search)
  return (
    <Page
      title="Executions"
      description="All runs of your tasks, with their responses."
      actions={
        <>
          {isLive && (
            <span className="flex h-9 items-center gap-2 text-sm text-soft">
              <Dot tone="live" />
              Live
            </span>
          )}
          {rerun !== undefined && (
            <Only role="editor">
              <RunThese filter={rerun} />
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
          onChange={(kind) => filter({ kind })}
        />
        <Select
          aria-label="Status"
          value={search.status ?? ""}
          options={[
            ["", "All statuses"],
            ...statuses.map((status) => [status, capital(status)] as const)
          ]}
          onChange={({ target }) => filter({ status: target.value })}
        />
        <MoreFilters search={search} filter={filter} />
        {task_id !== undefined && (
          <Button
            icon={<X />}
            onClick={() => filter({ task_id: undefined })}
            aria-label="Clear the task filter"
          >
            <span className="max-w-48 truncate">
              <TaskName taskId={task_id} />
            </span>
          </Button>
        )}
        {(from !== undefined || to !== undefined) && (
          <Button
            icon={<X />}
            onClick={() => filter({ from: undefined, to: undefined })}
            aria-label="Clear the time filter"
          >
            {from === undefined ? "" : dateTime(from)} – {to === undefined ? "now" : dateTime(to)}
          </Button>
        )}
        <ExecutionTotal search={search} />
      </Filters>
      <ExecutionList
        search={search}
        showsTask
        empty={
          isFiltered ? (
            <Empty title="No executions match the filters" />
          ) : (
            <Empty title="No executions yet" icon={<Activity />} action={<CreateLinks />}>
              Every run of a task is listed here, with its calls and their responses. Create a task
              to see its runs.
            </Empty>
          )
        }
      />
    </Page>
  )
}

const CreateLinks = () => {
  const { workspaceId } = useWorkspace()
  return (
    <Only role="editor">
      {Object.values(taskKinds).map(({ name, noun }) => (
        <ButtonLink
          key={noun}
          to={`/w/$workspaceId/${noun}/new`}
          params={{ workspaceId }}
          {...(noun === "cron" && { look: "main", icon: <Plus /> })}
        >
          New {name.toLowerCase()}
        </ButtonLink>
      ))}
    </Only>
  )
}
