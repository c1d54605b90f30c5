import { Api } from "@scheduling/domain/Api"
import { DnsMonitor } from "@scheduling/domain/monitors/dns/DnsMonitor"
import { Effect } from "effect"
import { implement } from "../../http/index.ts"
import { checkedHandlers } from "../checks/checkedHandlers.ts"
import { dnsMonitorKind } from "./dnsMonitorKind.ts"

export const DnsMonitorsHandlers = implement(
  Api,
  "dnsMonitors",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(yield* checkedHandlers(yield* dnsMonitorKind, DnsMonitor))
  })
)
