import type { ExecutionKind, WorkspaceId } from "@scheduling/sdk"
import { Plus } from "lucide-react"
import { useEffect, useEffectEvent, useMemo, useState } from "react"
import { ApiExample } from "../data/ApiExample.tsx"
import { useWorkspace } from "../data/client.ts"
import { type listOptions, useList } from "../data/queries.ts"
import { taskKinds } from "../data/tasks.ts"
import { Button, ButtonLink } from "../ui/actions/Button.tsx"
import { RadioButtons } from "../ui/forms/Field.tsx"
import { EmptyState, Page } from "../ui/layout/Page.tsx"
import { Filters, NameFilter } from "../ui/lists/Filters.tsx"
import { type Column, List } from "../ui/lists/List.tsx"
import { useFilters } from "../ui/lists/useFilters.ts"
import { RoleGate, useHasRole } from "../ui/role.tsx"
import { type BulkAction, BulkBar } from "../ui/lists/BulkBar.tsx"
import { RecentRunsContext, useRecentRuns } from "./RecentRuns.tsx"
import { selectionColumn, SelectionContext } from "../ui/lists/SelectionColumn.tsx"
import { useSelection } from "../ui/lists/useSelection.ts"
import { isUserTimeZone } from "../ui/values/format.ts"
import { UserZoneHint } from "../ui/values/Time.tsx"

/**
 * Loads the list's remaining pages and selects all rows, unless the list is filtered differently by
 * then.
 */
const useSelectAll = (
  {
    error,
    hasMore,
    isWhole,
    onMore
  }: Pick<ReturnType<typeof useList>, "error" | "hasMore" | "isWhole" | "onMore">,
  filters: object,
  selectAll: () => void
) => {
  const [wanted, setWanted] = useState<string>()
  const shown = JSON.stringify(filters)
  const isWanted = wanted === shown
  const choose = useEffectEvent(selectAll)
  useEffect(() => {
    if (!isWanted) return
    if (isWhole) choose()
    if (isWhole || error !== null) setWanted(undefined)
    else if (hasMore) void onMore()
  }, [isWanted, isWhole, hasMore, onMore, error])
  return { isBusy: isWanted, choose: () => setWanted(shown) }
}

const nameOf = ({ id, name }: { readonly id: string; readonly name: string | null }) => name ?? id

interface TaskSearch<Status> {
  readonly name?: string
  readonly status?: Status
}

/** Lists the tasks of one kind, with filters and bulk actions. */
export const TaskListPage = <
  Row extends { readonly id: string; readonly name: string | null; readonly timezone?: string },
  Status extends string
>({
  bulk,
  columns,
  description,
  example,
  kind,
  purpose,
  queries,
  readSearch,
  statuses
}: {
  readonly kind: ExecutionKind
  readonly description: string
  readonly queries: {
    readonly list: (
      workspaceId: WorkspaceId,
      search: TaskSearch<Status>
    ) => ReturnType<typeof listOptions<Row>>
  }
  readonly readSearch: (search: Readonly<Record<string, unknown>>) => TaskSearch<Status>
  readonly columns: ReadonlyArray<Column<Row>>
  readonly statuses: ReadonlyArray<readonly [status: Status, name: string]>
  readonly bulk: ReadonlyArray<BulkAction<Row>>
  /** The explanation and the example shown when the workspace has no tasks of this kind. */
  readonly purpose: string
  readonly example: object
}) => {
  const { workspaceId } = useWorkspace()
  const { filter, isFiltered, search } = useFilters(readSearch)
  const list = useList(queries.list(workspaceId, search))
  const selection = useSelection(list.rows)
  const selectAll = useSelectAll(list, search, selection.all)
  const repeating = kind === "delayed" ? [] : list.rows.map(({ id }) => id)
  const recent = useRecentRuns(workspaceId, repeating)
  const otherZone = list.rows.find(
    ({ timezone }) => timezone !== undefined && !isUserTimeZone(timezone)
  )?.timezone
  const maySelect = useHasRole()("editor")
  // Memoized, so that loading the next page does not re-render all rows.
  const shown = useMemo(
    () => (maySelect ? [selectionColumn<Row>("task", nameOf), ...columns] : columns),
    [maySelect, columns]
  )
  const { icon: Icon, name, noun, plural } = taskKinds[kind]
  const create = (
    <RoleGate role="editor">
      <ButtonLink
        to={`/w/$workspaceId/${noun}/new`}
        params={{ workspaceId }}
        look="main"
        icon={<Plus />}
      >
        New {name.toLowerCase()}
      </ButtonLink>
    </RoleGate>
  )
  return (
    <Page title={plural} description={description} actions={create}>
      {(isFiltered || list.isLoading || list.rows.length > 0) && (
        <Filters>
          <NameFilter
            label="Filter by name"
            value={search.name}
            onChange={(text) => filter({ name: text })}
          />
          <RadioButtons<Status | "all">
            label="Status"
            value={search.status ?? "all"}
            options={[["all", "All"], ...statuses]}
            onChange={(status) => filter({ status })}
          />
          {otherZone !== undefined && (
            <span className="ml-auto max-sm:hidden">
              <UserZoneHint scheduleZone={otherZone} />
            </span>
          )}
        </Filters>
      )}
      <SelectionContext value={selection}>
        <RecentRunsContext value={recent}>
          <List
            {...list}
            label={plural}
            columns={shown}
            empty={
              isFiltered ? (
                <EmptyState
                  title={`No ${plural.toLowerCase()} match the filters`}
                  action={
                    <Button onClick={() => filter({ name: undefined, status: undefined })}>
                      Clear the filters
                    </Button>
                  }
                />
              ) : (
                <EmptyState
                  title={`No ${plural.toLowerCase()} yet`}
                  icon={<Icon />}
                  action={create}
                >
                  <p className="mb-6">{purpose}</p>
                  <ApiExample
                    label="Create one with the API"
                    path={noun}
                    method={`${noun}.create`}
                    input={example}
                  />
                </EmptyState>
              )
            }
          />
        </RecentRunsContext>
      </SelectionContext>
      <BulkBar
        noun="task"
        nameOf={nameOf}
        chosen={selection.chosen}
        more={list.isWhole || selection.chosen.length < list.rows.length ? undefined : selectAll}
        actions={bulk}
        onClear={selection.none}
        onDone={() => {
          selection.none()
          void list.refetch()
        }}
      />
    </Page>
  )
}
