import { Api } from "@scheduling/domain/Api"
import { TcpMonitor } from "@scheduling/domain/monitors/tcp/TcpMonitor"
import { Effect } from "effect"
import { implement } from "../../http/index.ts"
import { checkedHandlers } from "../checks/checkedHandlers.ts"
import { tcpMonitorKind } from "./tcpMonitorKind.ts"

export const TcpMonitorsHandlers = implement(
  Api,
  "tcpMonitors",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(yield* checkedHandlers(yield* tcpMonitorKind, TcpMonitor))
  })
)
