import { useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { X } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { Button } from "../../ui/actions/Button.tsx"
import { Select } from "../../ui/forms/Field.tsx"
import { Filters } from "../../ui/lists/Filters.tsx"
import { Empty } from "../../ui/layout/Page.tsx"
import { DeliveryList } from "./DeliveryList.tsx"
import { NotificationsPage } from "../NotificationsPage.tsx"
import { kindsOptions } from "../queries.ts"
import { deliverySearch, deliveryStatuses } from "../search.ts"

export const DeliveryListPage = () => {
  const search = useSearch({ from: "/inside/w/$workspaceId/notifications/deliveries" })
  const navigate = useNavigate({ from: "/w/$workspaceId/notifications/deliveries" })
  const { workspaceId } = useWorkspace()
  const { data: kinds = [] } = useQuery(kindsOptions(workspaceId))
  const narrow = (change: Record<string, unknown>) =>
    void navigate({ search: (before) => deliverySearch({ ...before, ...change }), replace: true })
  return (
    <NotificationsPage name="deliveries">
      <Filters>
        <Select
          aria-label="Status"
          value={search.status ?? ""}
          options={[["", "All statuses"], ...Object.entries(deliveryStatuses)]}
          onChange={({ target }) => narrow({ status: target.value })}
        />
        <Select
          aria-label="Kind"
          value={search.kind ?? ""}
          options={[
            ["", "All kinds"],
            ["callback", "Call-backs"],
            ...kinds.map(({ kind, title }) => [kind, title] as const)
          ]}
          onChange={({ target }) => narrow({ kind: target.value })}
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
            Messages appear here with what the other side answered, once a rule applies or somebody
            tests a channel.
          </Empty>
        }
      />
    </NotificationsPage>
  )
}
