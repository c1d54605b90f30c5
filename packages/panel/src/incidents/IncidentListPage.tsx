import { CircleCheck, X } from "lucide-react"
import { Button } from "../ui/actions/Button.tsx"
import { RadioButtons } from "../ui/forms/Field.tsx"
import { EmptyState, Page } from "../ui/layout/Page.tsx"
import { Filters } from "../ui/lists/Filters.tsx"
import { useFilters } from "../ui/lists/useFilters.ts"
import { IncidentList } from "./IncidentList.tsx"
import { formatDateTime } from "../ui/values/format.ts"
import { incidentSearch } from "./queries.ts"

export const IncidentListPage = () => {
  const { filter, search } = useFilters(incidentSearch)
  return (
    <Page title="Incidents" description="Failed tasks, and monitors that are down.">
      <Filters>
        <RadioButtons
          label="Status"
          value={search.open ?? "all"}
          options={[
            ["all", "All"],
            ["true", "Open"],
            ["false", "Closed"]
          ]}
          onChange={(open) => filter({ open })}
        />
        {search.subject_id !== undefined && (
          <Button icon={<X />} onClick={() => filter({ subject_id: undefined })}>
            One monitor or task
          </Button>
        )}
        {(search.from !== undefined || search.to !== undefined) && (
          <Button
            icon={<X />}
            onClick={() => filter({ from: undefined, to: undefined })}
            aria-label="Clear the time filter"
          >
            {search.from === undefined ? "" : formatDateTime(search.from)} –{" "}
            {search.to === undefined ? "now" : formatDateTime(search.to)}
          </Button>
        )}
      </Filters>
      <IncidentList
        showsSubject={search.subject_id === undefined}
        search={search}
        empty={
          <EmptyState
            title={search.open === "true" ? "No open incidents" : "No incidents"}
            icon={<CircleCheck />}
          >
            An incident opens when a monitor goes down or a task keeps failing, and closes when it
            recovers.
          </EmptyState>
        }
      />
    </Page>
  )
}
