import { useQuery } from "@tanstack/react-query"
import { X } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { Button } from "../../ui/actions/Button.tsx"
import { Select } from "../../ui/forms/Field.tsx"
import { Filters } from "../../ui/lists/Filters.tsx"
import { useFilters } from "../../ui/lists/useFilters.ts"
import { EmptyState } from "../../ui/layout/Page.tsx"
import { DeliveryList } from "./DeliveryList.tsx"
import { NotificationsPage } from "../NotificationsPage.tsx"
import { channelKindsOptions } from "../queries.ts"
import { deliverySearch, deliveryStatuses } from "../search.ts"

export const DeliveryListPage = () => {
  const { filter, search } = useFilters(deliverySearch)
  const { workspaceId } = useWorkspace()
  const { data: kinds = [] } = useQuery(channelKindsOptions(workspaceId))
  return (
    <NotificationsPage name="deliveries">
      <Filters>
        <Select
          aria-label="Status"
          value={search.status ?? ""}
          options={[["", "All statuses"], ...Object.entries(deliveryStatuses)]}
          onChange={({ target }) => filter({ status: target.value })}
        />
        <Select
          aria-label="Kind"
          value={search.kind ?? ""}
          options={[
            ["", "All kinds"],
            ["callback", "Callbacks"],
            ...kinds.map(({ kind, title }) => [kind, title] as const)
          ]}
          onChange={({ target }) => filter({ kind: target.value })}
        />
        {search.channel_id !== undefined && (
          <Button icon={<X />} onClick={() => filter({ channel_id: undefined })}>
            One channel
          </Button>
        )}
      </Filters>
      <DeliveryList
        search={search}
        empty={
          <EmptyState title="No deliveries">
            Every message that a rule, a test or a callback sends is listed here, with the response
            of its recipient.
          </EmptyState>
        }
      />
    </NotificationsPage>
  )
}
