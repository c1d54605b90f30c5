import { useNavigate, useSearch } from "@tanstack/react-router"
import { CircleCheck, X } from "lucide-react"
import { Button } from "../ui/actions/Button.tsx"
import { Choice } from "../ui/forms/Field.tsx"
import { Filters } from "../ui/lists/Filters.tsx"
import { Empty, Page } from "../ui/layout/Page.tsx"
import { IncidentList } from "./IncidentList.tsx"
import { incidentSearch } from "./search.ts"

export const IncidentListPage = () => {
  const search = useSearch({ from: "/inside/w/$workspaceId/incidents" })
  const navigate = useNavigate({ from: "/w/$workspaceId/incidents" })
  const narrow = (change: Record<string, unknown>) =>
    void navigate({ search: (before) => incidentSearch({ ...before, ...change }), replace: true })
  return (
    <Page title="Incidents" description="Each time that a monitor was down, until it came back.">
      <Filters>
        <Choice
          label="Which"
          value={search.open ?? "all"}
          options={[
            ["all", "All"],
            ["true", "Open"],
            ["false", "Resolved"]
          ]}
          onChange={(open) => narrow({ open: open === "all" ? undefined : open })}
        />
        {search.monitor_id !== undefined && (
          <Button icon={<X className="size-4" />} onClick={() => narrow({ monitor_id: undefined })}>
            One monitor
          </Button>
        )}
      </Filters>
      <IncidentList
        search={search}
        empty={
          <Empty
            title={search.open === "true" ? "Nothing is down" : "No incidents"}
            icon={<CircleCheck className="size-5" />}
          >
            When a monitor goes down, it is here until it comes back, and afterwards for as long as
            history is kept.
          </Empty>
        }
      />
    </Page>
  )
}
