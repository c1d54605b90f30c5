import type { AuditEvent } from "@scheduling/sdk"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { useMemberNames } from "../data/names.ts"
import { useList } from "../data/queries.ts"
import { Button } from "../ui/Button.tsx"
import { Code } from "../ui/Code.tsx"
import { CopyText } from "../ui/Copy.tsx"
import { Sheet } from "../ui/Dialog.tsx"
import { Filters, NameFilter } from "../ui/Filters.tsx"
import { type Column, List } from "../ui/List.tsx"
import { Empty, Facts, Page } from "../ui/Page.tsx"
import { Problem } from "../ui/Problem.tsx"
import { At, None } from "../ui/Time.tsx"
import { auditOptions } from "./queries.ts"
import { auditSearch } from "./search.ts"

export const AuditPage = () => {
  const { workspaceId } = useWorkspace()
  const { text } = useSearch({ from: "/inside/w/$workspaceId/audit" })
  const navigate = useNavigate({ from: "/w/$workspaceId/audit" })
  const names = useMemberNames(workspaceId)
  const [shown, show] = useState<AuditEvent>()
  const { error, refetch, ...list } = useList(auditOptions(workspaceId))
  const whoOf = ({ actor_id }: AuditEvent) =>
    actor_id === null ? "The service" : (names.get(actor_id) ?? "Somebody who has left")
  const isMeant = (event: AuditEvent) =>
    text === undefined ||
    `${inWords(event.action)} ${whoOf(event)} ${event.ip ?? ""} ${event.target_id ?? ""}`
      .toLowerCase()
      .includes(text.toLowerCase())
  return (
    <Page
      title="Audit log"
      description="Who changed what, when and from where. Each event carries the hash of the one before it."
    >
      <Filters>
        <NameFilter
          label="Filter by what, who or address"
          value={text}
          onChange={(next) => void navigate({ search: auditSearch({ text: next }), replace: true })}
        />
        {text !== undefined && list.hasMore && (
          <span className="text-sm text-faint">Among the newest {list.rows.length} events.</span>
        )}
      </Filters>
      {error === null ? (
        <List
          {...list}
          rows={list.rows.filter(isMeant)}
          label="Audit log"
          columns={columnsWith(whoOf, show)}
          keyOf={({ id }) => id}
          empty={<Empty title="No event fits the filter" />}
        />
      ) : (
        <Problem error={error} retry={refetch} />
      )}
      <Sheet
        isOpen={shown !== undefined}
        onClose={() => show(undefined)}
        title={shown === undefined ? "Event" : inWords(shown.action)}
      >
        {shown !== undefined && <EventDetail event={shown} who={whoOf(shown)} />}
      </Sheet>
    </Page>
  )
}

/** `api_key.revoked` as `API key revoked`. */
const inWords = (action: string): string => {
  const text = action.replaceAll(/[._]/g, " ").replace("api key", "API key")
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const EventDetail = ({ event, who }: { readonly event: AuditEvent; readonly who: string }) => (
  <div className="flex flex-col gap-4">
    <Facts
      facts={[
        ["Who", who],
        ["When", <At key="0" at={event.created_at} />],
        ["From", event.ip ?? <None />],
        ["Of", event.target_id === null ? <None /> : <CopyText key="1" text={event.target_id} />],
        ["Hash", event.hash === null ? <None /> : <CopyText key="2" text={event.hash} />],
        ["Id", <CopyText key="3" text={event.id} />]
      ]}
    />
    <Code label="details" text={JSON.stringify(event.details, null, 2)} />
  </div>
)

const columnsWith = (
  whoOf: (event: AuditEvent) => string,
  show: (event: AuditEvent) => void
): ReadonlyArray<Column<AuditEvent>> => [
  {
    key: "what",
    head: "What",
    className: "grow basis-0",
    cell: (event) => (
      <>
        <span className="block truncate font-medium">{inWords(event.action)}</span>
        <span className="block truncate text-xs text-faint">{whoOf(event)}</span>
      </>
    )
  },
  {
    key: "from",
    head: "From",
    className: "w-36 shrink-0 truncate font-mono text-sm max-md:hidden",
    cell: ({ ip }) => ip ?? <None />
  },
  {
    key: "at",
    head: "When",
    className: "w-28 shrink-0",
    cell: ({ created_at }) => <At at={created_at} />
  },
  {
    key: "more",
    head: <span className="sr-only">Details</span>,
    className: "w-20 shrink-0 text-right max-sm:w-16",
    cell: (event) => (
      <Button size="small" look="quiet" onClick={() => show(event)}>
        Details
      </Button>
    )
  }
]
