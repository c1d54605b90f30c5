import { Api } from "@scheduling/domain/Api"
import { ProcessMonitor } from "@scheduling/domain/monitors/process/ProcessMonitor"
import { Effect, identity } from "effect"
import { implement } from "../../http/index.ts"
import { monitorHandlers } from "../monitorHandlers.ts"
import { makeKindMonitors } from "../KindMonitors.ts"
import { processMonitorKind } from "./processMonitorKind.ts"

export const ProcessMonitorsHandlers = implement(
  Api,
  "processMonitors",
  Effect.fnUntraced(function* (handlers) {
    const { common } = yield* monitorHandlers(yield* makeKindMonitors(yield* processMonitorKind), {
      answer: ProcessMonitor,
      createOperation: "process_monitors.create",
      toAnswer: Effect.succeed(identity<ProcessMonitor>)
    })
    return handlers.handleAll(common)
  })
)
