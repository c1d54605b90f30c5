import type { DeliveryStatus } from "@scheduling/sdk"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { X } from "lucide-react"
import { Button } from "../ui/Button.tsx"
import { Select } from "../ui/Field.tsx"
import { Filters } from "../ui/Filters.tsx"
import { Empty } from "../ui/Page.tsx"
import { DeliveryList } from "./DeliveryList.tsx"
import { NotificationsPage } from "./NotificationsPage.tsx"
import { deliverySearch } from "./search.ts"

export const DeliveryListPage = () => {
  const search = useSearch({ from: "/inside/w/$workspaceId/notifications/deliveries" })
  const navigate = useNavigate({ from: "/w/$workspaceId/notifications/deliveries" })
  const narrow = (change: Record<string, unknown>) =>
    void navigate({ search: (before) => deliverySearch({ ...before, ...change }), replace: true })
  return (
    <NotificationsPage name="deliveries">
      <Filters>
        <Select
          aria-label="Status"
          value={search.status ?? ""}
          options={statuses}
          onChange={({ target }) => narrow({ status: target.value })}
        />
        {search.channel_id !== undefined && (
          <Button icon={<X className="size-4" />} onClick={() => narrow({ channel_id: undefined })}>
            One channel
          </Button>
        )}
      </Filters>
      <DeliveryList
        search={search}
        empty={
          <Empty title="Nothing was sent">
            When a rule applies, or somebody tests a channel, the message is here with what the
            other side answered.
          </Empty>
        }
      />
    </NotificationsPage>
  )
}

const statuses: ReadonlyArray<readonly [DeliveryStatus | "", string]> = [
  ["", "All"],
  ["queued", "Queued"],
  ["sending", "Sending"],
  ["delivered", "Delivered"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"]
]
