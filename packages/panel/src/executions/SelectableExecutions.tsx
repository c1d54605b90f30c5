import type { Execution } from "@scheduling/sdk"
import { Ban, Play } from "lucide-react"
import { type ReactNode, useMemo, useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { type BulkAction, BulkBar } from "../ui/lists/BulkBar.tsx"
import { List } from "../ui/lists/List.tsx"
import { selectionColumn, SelectionContext } from "../ui/lists/SelectionColumn.tsx"
import { useSelection } from "../ui/lists/useSelection.ts"
import { showErrorToast } from "../ui/messages/toast.ts"
import { useHasRole } from "../ui/role.tsx"
import { formatShortExactDateTime } from "../ui/values/format.ts"
import { optionalColumns, shownColumns } from "./columns.tsx"
import { executionColumnsFor, useExecutionList } from "./ExecutionList.tsx"
import { executionQueries } from "./queries.ts"
import { type ExecutionSearch, listQueryOf } from "./search.ts"
import { TaskName } from "./TaskLink.tsx"

/** The highest number of executions that the service counts, and that can be selected together. */
const maxSelected = 10_000

/**
 * The execution list with the chosen columns. Editors can run or cancel several executions
 * together.
 */
export const SelectableExecutions = ({
  empty,
  search,
  total
}: {
  readonly search: ExecutionSearch
  /** The number of matching executions, if it is known. */
  readonly total: number | undefined
  readonly empty: ReactNode
}) => {
  const { api, workspaceId } = useWorkspace()
  const query = listQueryOf(search)
  const list = useExecutionList(executionQueries.list(workspaceId, query))
  const selection = useSelection(list.rows)
  // The matching executions, including those that are not loaded yet.
  const [matching, setMatching] = useState<ReadonlyArray<Execution>>()
  const chosen = matching ?? selection.chosen
  const maySelect = useHasRole()("editor")
  const shown = shownColumns.use()
  const columns = useMemo(() => {
    const hidden = new Set<string>(optionalColumns.filter((key) => !shown.includes(key)))
    const all = executionColumnsFor(workspaceId, true).filter(({ key }) => !hidden.has(key))
    return maySelect ? [selectionColumn<Execution>("execution", labelOf), ...all] : all
  }, [workspaceId, shown, maySelect])

  const clear = () => {
    selection.none()
    setMatching(undefined)
  }
  const selectMatching = async () => {
    try {
      setMatching(
        await api.executions.list({ ...query, limit: 100 }).toArray({ limit: maxSelected })
      )
    } catch (error) {
      showErrorToast(error)
    }
  }
  const isAllLoaded = selection.chosen.length === list.rows.length
  return (
    <>
      <SelectionContext
        value={{
          ...selection,
          // Clicking a row narrows the selection to the loaded rows again.
          toggle: (row) => {
            setMatching(undefined)
            selection.toggle(row)
          },
          none: clear
        }}
      >
        <List {...list} label="Executions" columns={columns} empty={empty} />
      </SelectionContext>
      <BulkBar
        noun="execution"
        nameOf={(row) => <FailedName row={row} />}
        chosen={chosen}
        more={
          list.isWhole || !isAllLoaded || matching !== undefined
            ? undefined
            : { choose: selectMatching, ...countOf(total) }
        }
        actions={actionsOf(api.executions)}
        onClear={clear}
        onDone={() => {
          clear()
          void executionQueries.changed(workspaceId)
        }}
      />
    </>
  )
}

const labelOf = ({ scheduled_for, status }: Execution) =>
  `${status} execution of ${formatShortExactDateTime(scheduled_for)}`

const FailedName = ({ row: { scheduled_for, step, task_id } }: { readonly row: Execution }) => (
  <>
    <TaskName taskId={task_id} />
    {step !== null && ` · ${step}`}, {formatShortExactDateTime(scheduled_for)}
  </>
)

const countOf = (total: number | undefined) =>
  total === undefined
    ? {}
    : { count: (total > maxSelected ? maxSelected : total).toLocaleString("en") }

const actionsOf = (executions: {
  readonly cancel: (id: string) => Promise<unknown>
  readonly rerun: (id: string) => Promise<unknown>
}): ReadonlyArray<BulkAction<Execution>> => [
  {
    name: "Run again",
    icon: <Play />,
    done: "started again",
    idsOf: (rows) => onceAChain(rows.filter(({ finished_at }) => finished_at !== null)),
    act: ({ id }) => executions.rerun(id)
  },
  {
    name: "Cancel",
    icon: <Ban />,
    done: "cancelled",
    idsOf: (rows) =>
      new Set(rows.flatMap(({ finished_at, id }) => (finished_at === null ? [id] : []))),
    act: ({ id }) => executions.cancel(id),
    warning:
      "Running calls are aborted. If an execution is a step, its whole chain run is cancelled."
  }
]

/** Rerunning a step reruns its whole chain, so only one step of each chain run is rerun. */
const onceAChain = (rows: ReadonlyArray<Execution>): ReadonlySet<string> => {
  const idsByRun = new Map(rows.map(({ chain_run_id, id }) => [chain_run_id ?? id, id]))
  return new Set(idsByRun.values())
}
