import { CalendarClock } from "lucide-react"
import { EmptyState, Page } from "../ui/layout/Page.tsx"
import { ExecutionList } from "./ExecutionList.tsx"
import { ExecutionTabs } from "./ExecutionTabs.tsx"

export const ScheduledPage = () => (
  <Page
    title="Executions"
    name="Scheduled executions"
    description="Delayed tasks until they are due, soonest first. The forecast shows the later runs of schedules."
  >
    <ExecutionTabs />
    <ExecutionList
      isScheduled
      showsTask
      empty={
        <EmptyState title="No scheduled executions" icon={<CalendarClock />}>
          Delayed tasks are listed here until they are due. Runs of a schedule appear only a few
          seconds before they are due.
        </EmptyState>
      }
    />
  </Page>
)
