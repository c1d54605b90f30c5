import type { CronTask } from "@scheduling/sdk"
import { rowDetailClass } from "../../ui/lists/List.tsx"
import { repeatingColumns } from "../columns.tsx"
import { useBulkActions } from "../RepeatingActions.tsx"
import { repeatingSearch } from "../search.ts"
import { TaskListPage } from "../TaskListPage.tsx"
import { cronKind, cronQueries } from "./cronKind.ts"

export const CronListPage = () => (
  <TaskListPage
    kind="cron"
    description="HTTP calls that repeat on a schedule."
    queries={cronQueries}
    readSearch={repeatingSearch}
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

const columns = repeatingColumns<CronTask>(cronKind, ({ method, url }) => (
  <span className={`${rowDetailClass} font-mono max-sm:hidden`}>
    {method} {url}
  </span>
))
