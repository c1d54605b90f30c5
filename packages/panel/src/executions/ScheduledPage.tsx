import { CalendarClock } from "lucide-react"
import { Empty, Page } from "../ui/layout/Page.tsx"
import { ExecutionList } from "./ExecutionList.tsx"
import { ExecutionTabs } from "./ExecutionTabs.tsx"

export const ScheduledPage = () => (
  <Page
    title="Executions"
    name="Scheduled executions"
    description="What is queued for a time to come, soonest first."
  >
    <ExecutionTabs />
    <ExecutionList
      isScheduled
      showsTask
      empty={
        <Empty title="Nothing is scheduled for later" icon={<CalendarClock className="size-5" />}>
          Delayed tasks appear here until their time comes. A schedule appears a few seconds before
          it fires.
        </Empty>
      }
    />
  </Page>
)
