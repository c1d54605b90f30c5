import { Effect } from "effect"
import { accounts } from "./baseline/accounts.ts"
import { billing } from "./baseline/billing.ts"
import { engine } from "./baseline/engine.ts"
import { events } from "./baseline/events.ts"
import { history } from "./baseline/history.ts"
import { http } from "./baseline/http.ts"
import { incidents } from "./baseline/incidents.ts"
import { monitoring } from "./baseline/monitoring.ts"
import { notifications } from "./baseline/notifications.ts"
import { search } from "./baseline/search.ts"
import { secrets } from "./baseline/secrets.ts"
import { statusPages } from "./baseline/statusPages.ts"
import { store } from "./baseline/store.ts"
import { tasks } from "./baseline/tasks.ts"
import { workers } from "./baseline/workers.ts"

/** The schema of the first release. A table is created after the tables that it references. */
export default Effect.all(
  [
    accounts,
    secrets,
    tasks,
    engine,
    history,
    workers,
    monitoring,
    incidents,
    events,
    notifications,
    statusPages,
    search,
    billing,
    http,
    store
  ],
  { discard: true }
)
