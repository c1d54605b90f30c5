import type { NotificationDelivery } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useMemo } from "react"
import { useWorkspace } from "../../data/client.ts"
import { useList } from "../../data/queries.ts"
import { type Column, List, rowLink } from "../../ui/lists/List.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { Badge, Status } from "../../ui/values/Status.tsx"
import { At } from "../../ui/values/Time.tsx"
import { titleOf } from "../events.ts"
import { channelsOptions, deliveryListOptions } from "../queries.ts"
import type { DeliverySearch } from "../search.ts"

/** What was sent, or waits to be sent, the newest first. */
export const DeliveryList = ({
  empty,
  search
}: {
  readonly search: DeliverySearch
  readonly empty: ReactNode
}) => {
  const { workspaceId } = useWorkspace()
  const { data: channels } = useQuery(channelsOptions(workspaceId))
  const columns = useMemo(() => {
    const names = new Map(channels?.map(({ id, name }) => [id, name]))
    return columnsWith(workspaceId, (id) =>
      id === null ? "a call-back" : (names.get(id) ?? "A deleted channel")
    )
  }, [workspaceId, channels])
  const { error, refetch, ...list } = useList({
    ...deliveryListOptions(workspaceId, search),
    // Only while something is under way, and nobody asks from a hidden tab.
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.data.some(({ finished_at }) => finished_at === null) === true
        ? 3_000
        : false
  })
  return error === null ? (
    <List {...list} label="Deliveries" columns={columns} keyOf={({ id }) => id} empty={empty} />
  ) : (
    <Problem error={error} retry={refetch} />
  )
}

const columnsWith = (
  workspaceId: string,
  nameOf: (channelId: string | null) => string
): ReadonlyArray<Column<NotificationDelivery>> => [
  {
    key: "status",
    head: "Status",
    className: "w-28 shrink-0",
    cell: ({ status }) => <Status of={status} />
  },
  {
    key: "what",
    head: "What",
    className: "grow basis-0",
    cell: (delivery) => (
      <>
        <Link
          to="/w/$workspaceId/notifications/deliveries/$deliveryId"
          params={{ workspaceId, deliveryId: delivery.id }}
          className={`block truncate font-medium ${rowLink}`}
        >
          {titleOf(delivery)}
        </Link>
        <span className="block truncate text-xs text-faint">
          <span className="sm:hidden">
            <At at={delivery.created_at} />{" "}
          </span>
          to {nameOf(delivery.channel_id)}
        </span>
      </>
    )
  },
  {
    key: "code",
    head: "Answer",
    className: "w-16 shrink-0 max-sm:hidden",
    cell: ({ status, status_code }) =>
      status_code !== null && (
        <Badge tone={status === "delivered" ? "ok" : "bad"}>{status_code}</Badge>
      )
  },
  {
    key: "at",
    head: "When",
    className: "w-28 shrink-0 max-sm:hidden",
    cell: ({ created_at }) => <At at={created_at} />
  }
]
