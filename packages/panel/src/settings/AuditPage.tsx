import type { AuditEvent } from "@scheduling/sdk"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { useChannelNames, useMemberNames } from "../data/names.ts"
import { useList } from "../data/queries.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Code } from "../ui/values/Code.tsx"
import { CopyText } from "../ui/values/Copy.tsx"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { type Column, List } from "../ui/lists/List.tsx"
import { Empty, Facts, Page } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { At, None } from "../ui/values/Time.tsx"
import { type AuditChange, AuditFilters } from "./AuditFilters.tsx"
import { auditOptions } from "./queries.ts"
import { auditSearch } from "./search.ts"

export const AuditPage = () => {
  const { workspaceId } = useWorkspace()
  const search = useSearch({ from: "/inside/w/$workspaceId/audit" })
  const navigate = useNavigate({ from: "/w/$workspaceId/audit" })
  const names = useMemberNames(workspaceId)
  const channels = useChannelNames(workspaceId)
  const [shown, show] = useState<AuditEvent>()
  const { error, refetch, ...list } = useList(auditOptions(workspaceId, search))
  const whoOf = (actorId: AuditEvent["actor_id"]) =>
    actorId === null ? "The service" : (names.get(actorId) ?? "Somebody who has left")
  const narrow = (change: AuditChange) => {
    show(undefined)
    void navigate({ search: (before) => auditSearch({ ...before, ...change }), replace: true })
  }
  return (
    <Page
      title="Audit log"
      description="Who changed what, when and from where. Each event carries the hash of the one before it."
    >
      <AuditFilters search={search} names={names} onNarrow={narrow} />
      {error === null ? (
        <List
          {...list}
          label="Audit log"
          columns={columnsWith(whoOf, (event) => subjectOf(event, channels), show)}
          keyOf={({ id }) => id}
          empty={
            <Empty
              title="No event fits the filters"
              action={
                <Button onClick={() => void navigate({ search: {} })}>Show all events</Button>
              }
            />
          }
        />
      ) : (
        <Problem error={error} retry={refetch} />
      )}
      <Sheet
        isOpen={shown !== undefined}
        onClose={() => show(undefined)}
        title={shown === undefined ? "Event" : inWords(shown.action)}
      >
        {shown !== undefined && (
          <EventDetail event={shown} who={whoOf(shown.actor_id)} onNarrow={narrow} />
        )}
      </Sheet>
    </Page>
  )
}

/** `api_key.revoked` as `API key revoked`. */
const inWords = (action: string): string => {
  const text = action.replaceAll(/[._]/g, " ").replace("api key", "API key")
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** What it was done to, as far as the details say. Of channels they say nothing. */
const subjectOf = (
  { details, target_id }: AuditEvent,
  channels: ReadonlyMap<string, string>
): string | undefined =>
  ["name", "email", "key_prefix", "token_prefix"]
    .map((key) => details[key])
    .find((value) => typeof value === "string") ?? channels.get(target_id ?? "")

const EventDetail = ({
  event,
  onNarrow,
  who
}: {
  readonly event: AuditEvent
  readonly who: string
  readonly onNarrow: (change: AuditChange) => void
}) => (
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
    <div className="flex flex-wrap gap-2">
      {event.target_id !== null && (
        <Button size="small" onClick={() => onNarrow({ target_id: event.target_id ?? undefined })}>
          All that happened to it
        </Button>
      )}
      {event.actor_id !== null && (
        <Button size="small" onClick={() => onNarrow({ actor_id: event.actor_id ?? undefined })}>
          All by {who}
        </Button>
      )}
    </div>
  </div>
)

const columnsWith = (
  whoOf: (actorId: AuditEvent["actor_id"]) => string,
  nameOf: (event: AuditEvent) => string | undefined,
  show: (event: AuditEvent) => void
): ReadonlyArray<Column<AuditEvent>> => [
  {
    key: "what",
    head: "What",
    className: "grow basis-0",
    cell: (event) => (
      <>
        <span className="block truncate font-medium">
          {inWords(event.action)}
          <span className="font-normal text-soft"> {nameOf(event)}</span>
        </span>
        <span className="block truncate text-xs text-faint">
          {whoOf(event.actor_id)}
          <span className="sm:hidden">
            , <At at={event.created_at} />
          </span>
        </span>
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
    className: "w-28 shrink-0 max-sm:hidden",
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
