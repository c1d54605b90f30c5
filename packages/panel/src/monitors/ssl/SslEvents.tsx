import type { SslEvent } from "@scheduling/sdk"
import { useWorkspace } from "../../data/client.ts"
import { useList } from "../../data/queries.ts"
import { type Column, List } from "../../ui/lists/List.tsx"
import { Empty, Section } from "../../ui/layout/Page.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { Badge, Status } from "../../ui/values/Status.tsx"
import { At, Duration } from "../../ui/values/Time.tsx"
import { askForEvents, sslEventsOptions } from "../queries.ts"

/** What each look found. */
export const SslEvents = ({ monitorId }: { readonly monitorId: string }) => {
  const { workspaceId } = useWorkspace()
  const { error, refetch, ...list } = useList({
    ...sslEventsOptions(workspaceId, monitorId),
    ...askForEvents
  })
  return (
    <Section title="Checks">
      {error === null ? (
        <List
          {...list}
          label="Checks"
          columns={columns}
          keyOf={({ id }) => id}
          empty={<Empty title="Not checked yet" />}
        />
      ) : (
        <Problem error={error} retry={refetch} />
      )}
    </Section>
  )
}

const columns: ReadonlyArray<Column<SslEvent>> = [
  {
    key: "status",
    head: "Status",
    className: "w-24 shrink-0",
    cell: ({ status }) => <Status of={status} />
  },
  {
    key: "at",
    head: "When",
    className: "w-28 shrink-0",
    cell: ({ at }) => <At at={at} />
  },
  {
    key: "what",
    head: "Found",
    className: "grow basis-0",
    cell: ({ message, type, verification }) => (
      <span className="flex items-center gap-2 overflow-hidden">
        <Badge tone={verification === null || verification === "ok" ? "none" : "bad"}>
          {(verification ?? type).replaceAll("_", " ")}
        </Badge>
        <span className="truncate text-soft" title={message ?? undefined}>
          {message}
        </span>
      </span>
    )
  },
  {
    key: "took",
    head: "Took",
    className: "w-20 shrink-0 text-right max-sm:hidden",
    cell: ({ duration_ms }) => <Duration ms={duration_ms} />
  }
]
