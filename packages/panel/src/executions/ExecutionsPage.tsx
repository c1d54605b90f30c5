import { useQuery } from "@tanstack/react-query"
import { Activity, Plus, X } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { useIsLive } from "../data/live.ts"
import { taskKinds } from "../data/tasks.ts"
import { Button, ButtonLink } from "../ui/actions/Button.tsx"
import { RadioButtons } from "../ui/forms/Field.tsx"
import { EmptyState, Page } from "../ui/layout/Page.tsx"
import { Filters, FoldedFilters } from "../ui/lists/Filters.tsx"
import { useFilters } from "../ui/lists/useFilters.ts"
import { RoleGate } from "../ui/role.tsx"
import { formatCount, formatDateTime } from "../ui/values/format.ts"
import { StatusDot } from "../ui/values/Status.tsx"
import { ColumnsMenu } from "./columns.tsx"
import { ExecutionHistogram } from "./ExecutionHistogram.tsx"
import { ExecutionTabs } from "./ExecutionTabs.tsx"
import { MoreFilters, StatusFilter } from "./MoreFilters.tsx"
import { executionQueries } from "./queries.ts"
import { RerunListedButton } from "./RerunListedButton.tsx"
import { SavedViews } from "./SavedViews.tsx"
import { executionSearch, listQueryOf, rerunFilter } from "./search.ts"
import { SelectableExecutions } from "./SelectableExecutions.tsx"
import { TaskName } from "./TaskLink.tsx"

export const ExecutionsPage = () => {
  const isLive = useIsLive()
  const { filter, isFiltered, search } = useFilters(executionSearch)
  const { from, task_id, to } = search
  const rerun = rerunFilter(search)
  const { workspaceId } = useWorkspace()
  const total = useQuery(executionQueries.total(workspaceId, listQueryOf(search))).data ?? undefined
  return (
    <Page
      title="Executions"
      description="All runs of your tasks, with their responses."
      actions={
        <>
          {isLive && (
            <span className="flex h-9 items-center gap-2 text-sm text-soft">
              <StatusDot tone="live" />
              Live
            </span>
          )}
          {rerun !== undefined && (
            <RoleGate role="editor">
              <RerunListedButton key={JSON.stringify(rerun)} filter={rerun} />
            </RoleGate>
          )}
        </>
      }
    >
      <ExecutionTabs />
      <ExecutionHistogram search={search} filter={filter} />
      <Filters>
        <FoldedFilters count={Object.keys(search).length}>
          <RadioButtons
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
          <StatusFilter search={search} filter={filter} />
          <MoreFilters search={search} filter={filter} />
        </FoldedFilters>
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
            {from === undefined ? "" : formatDateTime(from)} –{" "}
            {to === undefined ? "now" : formatDateTime(to)}
          </Button>
        )}
        <div className="flex items-center gap-2 sm:ml-auto">
          <Total total={total} />
          <SavedViews search={search} apply={(view) => filter({ ...nothing, ...view })} />
          <ColumnsMenu />
        </div>
      </Filters>
      <SelectableExecutions
        key={JSON.stringify(search)}
        search={search}
        total={total}
        empty={
          isFiltered ? (
            <EmptyState title="No executions match the filters" />
          ) : (
            <EmptyState title="No executions yet" icon={<Activity />} action={<CreateLinks />}>
              Every run of a task is listed here, with its calls and their responses. Create a task
              to see its runs.
            </EmptyState>
          )
        }
      />
    </Page>
  )
}

/** Removes every filter. */
const nothing = Object.fromEntries(
  [
    "kind",
    "status",
    "trigger",
    "status_code",
    "min_duration_ms",
    "task_id",
    "tag",
    "from",
    "to"
  ].map((key) => [key, undefined])
)

const Total = ({ total }: { readonly total: number | undefined }) =>
  total !== undefined && (
    <span role="status" className="text-sm whitespace-nowrap text-faint">
      {total > 10_000 ? "More than 10,000" : formatCount(total)}{" "}
      {total === 1 ? "execution" : "executions"}
    </span>
  )

const CreateLinks = () => {
  const { workspaceId } = useWorkspace()
  return (
    <RoleGate role="editor">
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
    </RoleGate>
  )
}
