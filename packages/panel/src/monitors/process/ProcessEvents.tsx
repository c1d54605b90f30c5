import type { ProcessEvent } from "@scheduling/sdk"
import { useWorkspace } from "../../data/client.ts"
import { useList } from "../../data/queries.ts"
import { type Column, List } from "../../ui/lists/List.tsx"
import { Empty, Section } from "../../ui/layout/Page.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { Status } from "../../ui/values/Status.tsx"
import { At } from "../../ui/values/Time.tsx"
import { askForEvents, processEventsOptions } from "../queries.ts"

/** When it went down and up. */
export const ProcessEvents = ({ monitorId }: { readonly monitorId: string }) => {
  const { workspaceId } = useWorkspace()
  const { error, refetch, ...list } = useList({
    ...processEventsOptions(workspaceId, monitorId),
    ...askForEvents
  })
  return (
    <Section title="Events">
      {error === null ? (
        <List
          {...list}
          label="Events"
          columns={columns}
          keyOf={({ id }) => id}
          empty={<Empty title="Nothing has changed yet" />}
        />
      ) : (
        <Problem error={error} retry={refetch} />
      )}
    </Section>
  )
}

const columns: ReadonlyArray<Column<ProcessEvent>> = [
  {
    key: "type",
    head: "What",
    className: "w-24 shrink-0",
    cell: ({ type }) => <Status of={type} />
  },
  {
    key: "at",
    head: "When",
    className: "w-28 shrink-0",
    cell: ({ at }) => <At at={at} />
  },
  {
    key: "why",
    head: "Why",
    className: "grow basis-0",
    cell: ({ message }) => (
      <span className="block truncate text-soft" title={message ?? undefined}>
        {message}
      </span>
    )
  }
]
