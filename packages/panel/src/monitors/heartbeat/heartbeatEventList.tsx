import type { HeartbeatEvent } from "@scheduling/sdk"
import { Button } from "../../ui/actions/Button.tsx"
import { Code } from "../../ui/values/Code.tsx"
import { type Column, rowTextClass } from "../../ui/lists/List.tsx"
import { Facts } from "../../ui/layout/Page.tsx"
import { Badge, Status, type Tone } from "../../ui/values/Status.tsx"
import { ShortTime, Duration } from "../../ui/values/Time.tsx"
import { eventDurationColumn, eventTimeColumn, type EventListOptions } from "../MonitorEvents.tsx"

const tones: Readonly<Record<HeartbeatEvent["type"], Tone>> = {
  success: "ok",
  fail: "bad",
  start: "none",
  log: "none",
  missed: "bad",
  overran: "bad",
  paused: "none",
  resumed: "none"
}

export const heartbeatEventList: EventListOptions<HeartbeatEvent> = {
  title: "Pings",
  empty: "No pings yet",
  columns: (show) => columnsWith(show),
  detail: { title: "Ping", Detail: ({ event }) => <EventDetail event={event} /> }
}

const EventDetail = ({ event }: { readonly event: HeartbeatEvent }) => (
  <div className="flex flex-col gap-4">
    <Facts
      facts={{
        Event: <Status of={event.type} tone={tones[event.type]} />,
        Time: <ShortTime at={event.at} />,
        Method: event.method,
        Address: event.ip,
        "User agent": event.user_agent,
        "Run id": event.rid,
        "Exit status": event.exit_status,
        Duration: <Duration ms={event.duration_ms} />
      }}
    />
    {event.body !== null && <Code label="body" text={event.body} wrap />}
    {event.body_dropped && (
      <p className="text-xs text-faint">
        The body of this ping was not stored, because the workspace had reached its daily limit.
      </p>
    )}
  </div>
)

const columnsWith = (
  show: (event: HeartbeatEvent) => void
): ReadonlyArray<Column<HeartbeatEvent>> => [
  {
    key: "type",
    head: "Event",
    className: "w-24 shrink-0",
    cell: ({ type }) => <Status of={type} tone={tones[type]} />
  },
  eventTimeColumn,
  {
    key: "said",
    head: "Message",
    className: "grow basis-0",
    belowOnPhone: "plain",
    cell: ({ body, exit_status, ip }) => (
      <span className="flex items-center gap-2 overflow-hidden">
        {exit_status !== null && (
          <Badge tone={exit_status === 0 ? "ok" : "bad"}>exit {exit_status}</Badge>
        )}
        <span className={`${rowTextClass} text-soft`}>{body ?? ip}</span>
      </span>
    )
  },
  eventDurationColumn,
  {
    key: "more",
    head: <span className="sr-only">Details</span>,
    className: "w-20 shrink-0 text-right max-sm:-my-2.5",
    cell: (event) =>
      event.method !== null && (
        <Button size="small" look="quiet" onClick={() => show(event)}>
          Details
        </Button>
      )
  }
]
