import type { Chain } from "@scheduling/sdk"
import { rowDetailClass } from "../../ui/lists/List.tsx"
import { repeatingTaskColumns } from "../columns.tsx"
import { useBulkActions } from "../RepeatingTaskActions.tsx"
import { repeatingTaskSearch } from "../search.ts"
import { TaskListPage } from "../TaskListPage.tsx"
import { chainKind, chainQueries } from "./chainKind.ts"

export const ChainListPage = () => (
  <TaskListPage
    kind="chain"
    description="HTTP calls that run one after another. A step can use the responses of earlier steps."
    queries={chainQueries}
    readSearch={repeatingTaskSearch}
    columns={columns}
    statuses={[
      ["active", "Active"],
      ["paused", "Paused"]
    ]}
    bulk={useBulkActions(chainKind)}
    purpose="A chain can, for example, log in, fetch data and send a report. Each step can use the responses of earlier steps, and you choose whether it runs after a failure."
    example={{
      name: "Nightly export",
      steps: [
        { name: "login", url: "https://api.example.com/login", body: "{}" },
        {
          name: "export",
          url: "https://api.example.com/export",
          body: '{"token":"{{ steps.login.body.token }}"}'
        }
      ]
    }}
  />
)

const columns = repeatingTaskColumns<Chain>(chainKind, ({ steps }) => (
  <span className={`${rowDetailClass} max-sm:hidden`}>
    {steps.map(({ name }) => name).join(" → ")}
  </span>
))
