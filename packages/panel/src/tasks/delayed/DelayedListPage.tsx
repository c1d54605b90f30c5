import type { DelayedTask } from "@scheduling/sdk"
import { Ban } from "lucide-react"
import { useWorkspace } from "../../data/client.ts"
import { nameFromUrl } from "../../data/tasks.ts"
import { type Column, rowDetailClass } from "../../ui/lists/List.tsx"
import { nameColumn, TwoLineTime } from "../columns.tsx"
import { delayedSearch } from "../search.ts"
import { TaskListPage } from "../TaskListPage.tsx"
import { delayedQueries } from "./delayedQueries.ts"
import { DelayedStatus } from "./DelayedStatus.tsx"

export const DelayedListPage = () => {
  const { api } = useWorkspace()
  return (
    <TaskListPage
      kind="delayed"
      description="Single HTTP calls, up to a year ahead."
      queries={delayedQueries}
      readSearch={delayedSearch}
      columns={columns}
      statuses={[
        ["pending", "Pending"],
        ["finished", "Finished"],
        ["cancelled", "Cancelled"]
      ]}
      bulk={[
        {
          name: "Cancel",
          icon: <Ban />,
          done: "cancelled",
          act: ({ id }) => api.delayed.delete(id),
          warning: "They will not run. They stay in the list as cancelled."
        }
      ]}
      purpose="A delayed task makes one call at a time that you choose, such as a reminder in three days or the cancellation of an unpaid order."
      example={{
        name: "Remind Ada",
        delay_seconds: 3600,
        url: "https://api.example.com/reminders/17"
      }}
    />
  )
}

const columns: ReadonlyArray<Column<DelayedTask>> = [
  nameColumn(
    "delayed",
    ({ name, url }) => name ?? nameFromUrl(url),
    (task) => (
      <span className={`${rowDetailClass} font-mono max-sm:hidden`}>
        {task.method} {task.url}
      </span>
    )
  ),
  {
    key: "status",
    head: "Status",
    className: "w-28 shrink-0",
    belowOnPhone: "plain",
    cell: (task) => <DelayedStatus of={task} />
  },
  {
    key: "when",
    head: "Due",
    className: "w-28 shrink-0",
    belowOnPhone: "plain",
    cell: ({ run_at }) => <TwoLineTime at={run_at} />
  }
]
