import type { AuditEvent } from "@scheduling/sdk"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { changedRecordName } from "../data/changes.ts"
import { actorName, useChannelNames, useMemberNames } from "../data/names.ts"
import { useList } from "../data/queries.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Code } from "../ui/values/Code.tsx"
import { CopyableText } from "../ui/values/Copy.tsx"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { type Column, List, rowDetailClass } from "../ui/lists/List.tsx"
import { useFilters } from "../ui/lists/useFilters.ts"
import { EmptyState, Facts, Page } from "../ui/layout/Page.tsx"
import { capitalize } from "../ui/values/format.ts"
import { ShortTime, EmptyValue } from "../ui/values/Time.tsx"
import { Changes } from "../ui/values/Changes.tsx"
import { AuditFilters } from "./AuditFilters.tsx"
import { auditOptions } from "./queries.ts"
import { type AuditSearch, auditSearch } from "./search.ts"

export const AuditPage = () => {
  const { workspaceId } = useWorkspace()
  const { filter, search } = useFilters(auditSearch)
  const names = useMemberNames(workspaceId)
  const channels = useChannelNames(workspaceId)
  const [shown, show] = useState<AuditEvent>()
  const list = useList(auditOptions(workspaceId, search))
  const whoOf = ({ actor }: AuditEvent) => actorName(actor, names)
  const clear = () => filter({ subject_kind: "", actor_id: "", subject_id: "", from: "", to: "" })
  const filterClosed: typeof filter = (change) => {
    show(undefined)
    filter(change)
  }
  return (
    <Page
      title="Audit log"
      description="Who changed what, when and from which address. Each event has the hash of the previous event."
    >
      <AuditFilters search={search} names={names} onFilter={filter} />
      <List
        {...list}
        label="Audit log"
        columns={columnsWith(
          whoOf,
          (event) => changedRecordName(event) ?? channels.get(event.subject_id ?? ""),
          show
        )}
        empty={
          <EmptyState
            title="No events match the filters"
            action={<Button onClick={clear}>Clear the filters</Button>}
          />
        }
      />
      <Sheet
        isOpen={shown !== undefined}
        onClose={() => show(undefined)}
        title={shown === undefined ? "Event" : describeAction(shown.action)}
      >
        {shown !== undefined && (
          <EventDetail event={shown} who={whoOf(shown)} onFilter={filterClosed} />
        )}
      </Sheet>
    </Page>
  )
}

/** Formats an action for display: `api_key.revoked` as `API key revoked`. */
const describeAction = (action: string): string =>
  capitalize(action.replaceAll(/[._]/g, " ").replace("api key", "API key"))

const EventDetail = ({
  event,
  onFilter,
  who
}: {
  readonly event: AuditEvent
  readonly who: string
  readonly onFilter: (change: { readonly [Key in keyof AuditSearch]?: unknown }) => void
}) => (
  <div className="flex flex-col gap-4">
    <Facts
      facts={{
        Actor: who,
        Time: <ShortTime at={event.created_at} />,
        Address: event.ip,
        Record: event.subject_id && <CopyableText text={event.subject_id} />,
        Request: event.request_id && <CopyableText text={event.request_id} />,
        Hash: event.hash && <CopyableText text={event.hash} />,
        Id: <CopyableText text={event.id} />
      }}
    />
    <Changes changes={event.changes} />
    {Object.keys(event.details).length > 0 && (
      <Code label="details" text={JSON.stringify(event.details, null, 2)} />
    )}
    <div className="flex flex-wrap gap-2">
      {event.subject_id !== null && (
        <Button size="small" onClick={() => onFilter({ subject_id: event.subject_id })}>
          Show all events of this record
        </Button>
      )}
      {event.actor?.id != null && (
        <Button size="small" onClick={() => onFilter({ actor_id: event.actor?.id })}>
          Show all events by {who}
        </Button>
      )}
    </div>
  </div>
)

const columnsWith = (
  whoOf: (event: AuditEvent) => string,
  nameOf: (event: AuditEvent) => string | undefined,
  show: (event: AuditEvent) => void
): ReadonlyArray<Column<AuditEvent>> => [
  {
    key: "what",
    head: "Event",
    className: "grow basis-0",
    cell: (event) => (
      <>
        <span className="block truncate font-medium">
          {describeAction(event.action)}
          <span className="font-normal text-soft"> {nameOf(event)}</span>
        </span>
        <span className={rowDetailClass}>
          {whoOf(event)}
          <span className="sm:hidden">
            , <ShortTime at={event.created_at} />
          </span>
        </span>
      </>
    )
  },
  {
    key: "from",
    head: "Address",
    className: "w-36 shrink-0 truncate font-mono text-sm max-md:hidden",
    cell: ({ ip }) => ip ?? <EmptyValue />
  },
  {
    key: "at",
    head: "Time",
    className: "w-28 shrink-0 max-sm:hidden",
    cell: ({ created_at }) => <ShortTime at={created_at} />
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
