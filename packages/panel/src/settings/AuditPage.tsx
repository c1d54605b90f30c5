import type { AuditEvent } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { changedRecordLink, changedRecordName } from "../data/changes.ts"
import { actorName, useChannelNames, useMemberNames } from "../data/names.ts"
import { useList } from "../data/queries.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Code } from "../ui/values/Code.tsx"
import { CopyableText } from "../ui/values/Copy.tsx"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { type Column, List, rowNameClass } from "../ui/lists/List.tsx"
import { useFilters } from "../ui/lists/useFilters.ts"
import { EmptyState, Facts, Page } from "../ui/layout/Page.tsx"
import { capitalize } from "../ui/values/format.ts"
import { ExactTime, EmptyValue } from "../ui/values/Time.tsx"
import { Changes } from "../ui/values/Changes.tsx"
import { AuditFilters } from "./AuditFilters.tsx"
import { auditOptions } from "./queries.ts"
import { type AuditSearch, auditSearch } from "./search.ts"

export const AuditPage = () => {
  const { workspaceId } = useWorkspace()
  const { filter, search } = useFilters(auditSearch)
  const names = useMemberNames(workspaceId)
  const channels = useChannelNames(workspaceId)
  const nameOf = (event: AuditEvent) =>
    changedRecordName(event) ?? channels.get(event.subject_id ?? "")
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
      description="Who changed what, when and from which address. Events are hash-chained, so that edits to the log can be detected."
    >
      <AuditFilters search={search} names={names} onFilter={filter} />
      <List
        {...list}
        label="Audit log"
        columns={columnsWith(whoOf, nameOf, show)}
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
          <EventDetail
            event={shown}
            name={nameOf(shown)}
            who={whoOf(shown)}
            onFilter={filterClosed}
          />
        )}
      </Sheet>
    </Page>
  )
}

/** Formats an action for display: `api_key.revoked` as `API key revoked`. */
const describeAction = (action: string): string =>
  capitalize(action.replaceAll(/[._]/g, " ").replace("api key", "API key"))

/** A link to the changed record, if it still exists and has a page. */
const RecordLink = ({
  event,
  name
}: {
  readonly event: AuditEvent
  readonly name: string | undefined
}) => {
  const { workspaceId } = useWorkspace()
  const link = changedRecordLink(workspaceId, event)
  return link === undefined ? (
    name
  ) : (
    <Link {...link} className="font-medium text-live underline-offset-2 hover:underline">
      {name ?? "Open record"}
    </Link>
  )
}

const EventDetail = ({
  event,
  name,
  onFilter,
  who
}: {
  readonly event: AuditEvent
  readonly name: string | undefined
  readonly who: string
  readonly onFilter: (change: { readonly [Key in keyof AuditSearch]?: unknown }) => void
}) => (
  <div className="flex flex-col gap-4">
    <Changes changes={event.changes} />
    <Facts
      facts={{
        Record: <RecordLink event={event} name={name} />,
        Actor: who,
        Time: <ExactTime at={event.created_at} />,
        Address: event.ip
      }}
    />
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
    {Object.keys(event.details).length > 0 && (
      <Code label="details" text={JSON.stringify(event.details, null, 2)} />
    )}
    <Facts
      facts={{
        "Record id": event.subject_id && <CopyableText text={event.subject_id} />,
        "Request id": event.request_id && <CopyableText text={event.request_id} />,
        Hash: event.hash && <CopyableText text={event.hash} />,
        "Event id": <CopyableText text={event.id} />
      }}
    />
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
      <span className={rowNameClass}>
        {describeAction(event.action)}
        <span className="font-normal text-soft"> {nameOf(event)}</span>
      </span>
    )
  },
  {
    key: "who",
    head: "Actor",
    className: "w-44 shrink-0 truncate",
    belowOnPhone: "plain",
    cell: whoOf
  },
  {
    key: "from",
    head: "Address",
    className: "w-36 shrink-0 truncate max-lg:hidden",
    cell: ({ ip }) =>
      ip === null ? <EmptyValue /> : <span className="font-mono text-sm">{ip}</span>
  },
  {
    key: "at",
    head: "Time",
    className: "w-36 shrink-0",
    belowOnPhone: "plain",
    cell: ({ created_at }) => <ExactTime at={created_at} />
  },
  {
    key: "more",
    head: <span className="sr-only">Details</span>,
    className: "w-20 shrink-0 text-right max-sm:-my-2.5",
    cell: (event) => (
      <Button size="small" look="quiet" onClick={() => show(event)}>
        Details
      </Button>
    )
  }
]
