import { type ComponentType, useState } from "react"
import { type listOptions, useList } from "../data/queries.ts"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Empty, Section } from "../ui/layout/Page.tsx"
import { type Column, List } from "../ui/lists/List.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { askForEvents } from "./queries.ts"

/** How the events of a kind are listed. */
export interface ListedEvent<Event> {
  readonly title: string
  readonly empty: string
  /** `show` opens the details of an event. */
  readonly columns: (show: (event: Event) => void) => ReadonlyArray<Column<Event>>
  readonly detail?: {
    readonly title: string
    readonly Detail: ComponentType<{ readonly event: Event }>
  }
}

/** What happened to a monitor, the newest first. */
export const MonitorEvents = <Event extends { readonly id: string }>({
  columns,
  detail,
  empty,
  options,
  title
}: ListedEvent<Event> & { readonly options: ReturnType<typeof listOptions<Event>> }) => {
  const [shown, show] = useState<Event>()
  const { error, refetch, ...list } = useList({ ...options, ...askForEvents })
  return (
    <Section title={title}>
      {error === null ? (
        <List
          {...list}
          label={title}
          columns={columns(show)}
          keyOf={({ id }) => id}
          empty={<Empty title={empty} />}
        />
      ) : (
        <Problem error={error} retry={refetch} />
      )}
      {detail !== undefined && (
        <Sheet isOpen={shown !== undefined} onClose={() => show(undefined)} title={detail.title}>
          {shown !== undefined && <detail.Detail event={shown} />}
        </Sheet>
      )}
    </Section>
  )
}
