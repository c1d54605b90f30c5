import type { NotificationDelivery } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useMemo } from "react"
import { useWorkspace } from "../../data/client.ts"
import { useList } from "../../data/queries.ts"
import { type Column, List, rowTitleClass, rowDetailClass } from "../../ui/lists/List.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { Badge, Status } from "../../ui/values/Status.tsx"
import { ExactTime } from "../../ui/values/Time.tsx"
import { deliveryTitle } from "../events.ts"
import { channelsOptions, deliveryListOptions } from "../queries.ts"
import type { DeliverySearch } from "../search.ts"

export const DeliveryList = ({
  empty,
  search,
  showsChannel = true
}: {
  readonly search: DeliverySearch
  readonly empty: ReactNode
  /** False if all deliveries are to the channel whose page lists them. */
  readonly showsChannel?: boolean
}) => {
  const { workspaceId } = useWorkspace()
  const { data: channels, error, refetch } = useQuery(channelsOptions(workspaceId))
  const columns = useMemo(() => {
    const names = new Map(channels?.map(({ id, name }) => [id, name]))
    const unknown = channels === undefined ? "a channel" : "a deleted channel"
    return columnsWith(
      workspaceId,
      showsChannel
        ? (id) => `to ${id === null ? "a callback URL" : (names.get(id) ?? unknown)}`
        : () => undefined
    )
  }, [workspaceId, channels, showsChannel])
  const list = useList({
    ...deliveryListOptions(workspaceId, search),
    // Poll while a delivery is unfinished.
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.data.some(({ finished_at }) => finished_at === null) === true
        ? 3_000
        : false
  })
  return (
    <div className="flex flex-col gap-3">
      {list.error === null && <Problem error={error} retry={refetch} />}
      <List {...list} label="Deliveries" columns={columns} empty={empty} />
    </div>
  )
}

const columnsWith = (
  workspaceId: string,
  describeRecipient: (channelId: string | null) => string | undefined
): ReadonlyArray<Column<NotificationDelivery>> => [
  {
    key: "status",
    head: "Status",
    className: "w-28 shrink-0",
    belowOnPhone: "plain",
    cell: ({ status }) => <Status of={status} />
  },
  {
    key: "what",
    head: "Message",
    className: "grow basis-0",
    cell: (delivery) => (
      <>
        <Link
          to="/w/$workspaceId/notifications/deliveries/$deliveryId"
          params={{ workspaceId, deliveryId: delivery.id }}
          className={rowTitleClass}
        >
          {deliveryTitle(delivery)}
        </Link>
        <span className={rowDetailClass}>{describeRecipient(delivery.channel_id)}</span>
      </>
    )
  },
  {
    key: "code",
    head: "Response",
    className: "w-16 shrink-0",
    belowOnPhone: "plain",
    cell: ({ status, status_code }) =>
      status_code !== null && (
        <Badge tone={status === "delivered" ? "ok" : "bad"}>{status_code}</Badge>
      )
  },
  {
    key: "at",
    head: "Time",
    className: "w-40 shrink-0",
    belowOnPhone: "plain",
    cell: ({ created_at }) => <ExactTime at={created_at} />
  }
]
