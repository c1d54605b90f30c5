import { Api } from "@scheduling/domain/Api"
import { HttpMonitor } from "@scheduling/domain/monitors/http/HttpMonitor"
import { Effect } from "effect"
import { implement } from "../../http/index.ts"
import { checkedHandlers } from "../checks/checkedHandlers.ts"
import { httpMonitorKind } from "./httpMonitorKind.ts"

export const HttpMonitorsHandlers = implement(
  Api,
  "httpMonitors",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(yield* checkedHandlers(yield* httpMonitorKind, HttpMonitor))
  })
)
