import type { Monitor } from "@scheduling/sdk"
import { type ComponentType, useState } from "react"
import { type listOptions, useList } from "../data/queries.ts"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { EmptyState, Section } from "../ui/layout/Page.tsx"
import { type Column, List } from "../ui/lists/List.tsx"
import { Status } from "../ui/values/Status.tsx"
import { Duration, ExactTime } from "../ui/values/Time.tsx"
import { eventPollingOptions } from "./queries.ts"

/** How the events of a kind of monitor are listed. */
export interface EventListOptions<Event> {
  readonly title: string
  readonly empty: string
  readonly columns: (show: (event: Event) => void) => ReadonlyArray<Column<Event>>
  readonly detail?: {
    readonly title: string
    readonly Detail: ComponentType<{ readonly event: Event }>
  }
}

export const MonitorEvents = <Event extends { readonly id: string }>({
  columns,
  detail,
  empty,
  options,
  title
}: EventListOptions<Event> & { readonly options: ReturnType<typeof listOptions<Event>> }) => {
  const [shown, show] = useState<Event>()
  const list = useList({ ...options, ...eventPollingOptions })
  return (
    <Section title={title}>
      <List {...list} label={title} columns={columns(show)} empty={<EmptyState title={empty} />} />
      {detail !== undefined && (
        <Sheet isOpen={shown !== undefined} onClose={() => show(undefined)} title={detail.title}>
          {shown !== undefined && <detail.Detail event={shown} />}
        </Sheet>
      )}
    </Section>
  )
}

export const eventStatusColumn: Column<Pick<Monitor, "status">> = {
  key: "status",
  head: "Status",
  className: "w-24 shrink-0",
  cell: ({ status }) => <Status of={status} />
}

export const eventTimeColumn: Column<{ readonly at: string }> = {
  key: "at",
  head: "Time",
  className: "w-30 shrink-0 max-sm:grow sm:w-40",
  cell: ({ at }) => <ExactTime at={at} />
}

export const eventDurationColumn: Column<{ readonly duration_ms: number | null }> = {
  key: "took",
  head: "Duration",
  className: "w-20 shrink-0 text-right",
  belowOnPhone: "plain",
  cell: ({ duration_ms }) => (
    <span className={duration_ms === null ? "max-sm:hidden" : undefined}>
      <Duration ms={duration_ms} />
    </span>
  )
}
