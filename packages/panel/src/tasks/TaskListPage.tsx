import { Plus } from "lucide-react"
import { type ReactNode, useEffect, useEffectEvent, useMemo, useState } from "react"
import { useWorkspace } from "../data/client.ts"
import type { useList } from "../data/queries.ts"
import { Button, ButtonLink } from "../ui/actions/Button.tsx"
import { Choice } from "../ui/forms/Field.tsx"
import { Filters, NameFilter } from "../ui/lists/Filters.tsx"
import { type Column, List } from "../ui/lists/List.tsx"
import { Empty, Page } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { Only, useMay } from "../ui/role.tsx"
import { type BulkAction, BulkBar } from "./BulkBar.tsx"
import { TaskExamples } from "./TaskExamples.tsx"
import { choosing, SelectionOf } from "./Choosing.tsx"
import { RecentRunsOf, useRecentRuns } from "./RecentRuns.tsx"
import type { TaskWords } from "./TaskPages.tsx"
import { useSelection } from "./useSelection.ts"

/** Reads the rest of a list and chooses all of it. The header of the list chooses what was read. */
const useAllThatMatch = (
  {
    error,
    hasMore,
    isWhole,
    onMore
  }: Pick<ReturnType<typeof useList>, "error" | "hasMore" | "isWhole" | "onMore">,
  chooseAll: () => void
) => {
  const [isWanted, setWanted] = useState(false)
  const choose = useEffectEvent(chooseAll)
  useEffect(() => {
    if (!isWanted) return
    if (isWhole) choose()
    if (isWhole || error !== null) setWanted(false)
    else if (hasMore) void onMore()
  }, [isWanted, isWhole, hasMore, onMore, error])
  return { isBusy: isWanted, choose: () => setWanted(true) }
}

interface Narrowed<Status> {
  readonly name?: string
  readonly status?: Status
}

/** Tasks of one kind: what narrows them, the list, and what is done with many at once. */
export const TaskListPage = <
  Row extends { readonly id: string; readonly name: string | null },
  Status extends string
>({
  about,
  bulk,
  columns,
  description,
  example,
  icon,
  list: { error, refetch, ...list },
  onNarrow,
  search,
  statuses,
  words: { noun, one, title }
}: {
  readonly words: TaskWords
  readonly description: string
  readonly list: ReturnType<typeof useList<Row>>
  readonly columns: ReadonlyArray<Column<Row>>
  readonly search: Narrowed<Status>
  readonly statuses: ReadonlyArray<readonly [status: Status, name: string]>
  readonly onNarrow: (change: {
    readonly name?: string | undefined
    readonly status?: Status | undefined
  }) => void
  readonly bulk: ReadonlyArray<BulkAction<Row>>
  /** For who has none yet: what they are good for, and one to begin with. */
  readonly icon: ReactNode
  readonly about: string
  readonly example: object
}) => {
  const { workspaceId } = useWorkspace()
  const [cleared, setCleared] = useState(0)
  const selection = useSelection(list.rows)
  const allThatMatch = useAllThatMatch({ ...list, error }, selection.all)
  const repeating = noun === "delayed" ? [] : list.rows.map(({ id }) => id)
  const recent = useRecentRuns(workspaceId, repeating)
  const offer = (
    <Only role="editor">
      <ButtonLink
        to={`/w/$workspaceId/${noun}/new`}
        params={{ workspaceId }}
        look="main"
        icon={<Plus className="size-4" />}
      >
        New {one.toLowerCase()}
      </ButtonLink>
    </Only>
  )
  const isNarrowed = Object.keys(search).length > 0
  const mayChoose = useMay()("editor")
  const things = title.toLowerCase()
  // Otherwise all rows are drawn again when further ones are read.
  const shown = useMemo(() => (mayChoose ? [choosing, ...columns] : columns), [mayChoose, columns])
  return (
    <Page title={title} description={description} actions={offer}>
      {(isNarrowed || list.isLoading || list.rows.length > 0) && (
        <Filters>
          <NameFilter
            key={cleared}
            label="Filter by name"
            value={search.name}
            onChange={(name) => onNarrow({ name })}
          />
          <Choice<Status | "all">
            label="Status"
            value={search.status ?? "all"}
            options={[["all", "All"], ...statuses]}
            onChange={(status) => onNarrow({ status: status === "all" ? undefined : status })}
          />
        </Filters>
      )}
      {error === null ? (
        <SelectionOf value={selection}>
          <RecentRunsOf value={recent}>
            <List
              {...list}
              label={title}
              columns={shown}
              keyOf={({ id }) => id}
              empty={
                isNarrowed ? (
                  <Empty
                    title={`No ${things} fit the filters`}
                    action={
                      <Button
                        onClick={() => {
                          onNarrow({ name: undefined, status: undefined })
                          setCleared(cleared + 1)
                        }}
                      >
                        Show all
                      </Button>
                    }
                  />
                ) : (
                  <Empty title={`No ${things} yet`} icon={icon} action={offer}>
                    <p className="mb-6">{about}</p>
                    <TaskExamples noun={noun} input={example} />
                  </Empty>
                )
              }
            />
          </RecentRunsOf>
        </SelectionOf>
      ) : (
        <Problem error={error} retry={refetch} />
      )}
      {selection.chosen.length > 0 && (
        <BulkBar
          chosen={selection.chosen}
          more={
            list.isWhole || selection.chosen.length < list.rows.length ? undefined : allThatMatch
          }
          actions={bulk}
          onClear={selection.none}
          onDone={() => {
            selection.none()
            refetch()
          }}
        />
      )}
    </Page>
  )
}
