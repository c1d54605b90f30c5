import type { CronTask } from "@scheduling/sdk"
import { rowDetailClass } from "../../ui/lists/List.tsx"
import { repeatingTaskColumns } from "../columns.tsx"
import { useBulkActions } from "../RepeatingTaskActions.tsx"
import { repeatingTaskSearch } from "../search.ts"
import { TaskListPage } from "../TaskListPage.tsx"
import { cronKind, cronQueries } from "./cronKind.ts"

export const CronListPage = () => (
  <TaskListPage
    kind="cron"
    description="HTTP calls that repeat on a schedule."
    queries={cronQueries}
    readSearch={repeatingTaskSearch}
    columns={columns}
    statuses={[
      ["active", "Active"],
      ["paused", "Paused"]
    ]}
    bulk={useBulkActions(cronKind)}
    purpose="A cron task calls a URL on a schedule, retries failed calls and keeps the responses."
    example={{
      name: "Nightly report",
      schedule: "0 3 * * *",
      url: "https://api.example.com/jobs/nightly"
    }}
  />
)

const columns = repeatingTaskColumns<CronTask>(cronKind, ({ method, url }) => (
  <span className={`${rowDetailClass} font-mono max-sm:hidden`}>
    {method} {url}
  </span>
))
