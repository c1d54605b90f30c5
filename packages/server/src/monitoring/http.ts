import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { implement, inWorkspace } from "../http/index.ts"
import { Monitors } from "./Monitors.ts"
import { Uptime } from "./uptime/Uptime.ts"

export const MonitorsHandlers = implement(
  Api,
  "monitors",
  Effect.fnUntraced(function* (handlers) {
    const monitors = yield* Monitors
    const uptime = yield* Uptime
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => monitors.list(workspaceId, query)),

      uptime: inWorkspace((workspaceId, { params, query }) =>
        uptime.uptime(workspaceId, params.monitor_id, query.period)
      ),

      series: inWorkspace((workspaceId, { params, query }) =>
        uptime.series(workspaceId, params.monitor_id, query.period)
      )
    })
  })
)
