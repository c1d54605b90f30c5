import { Api } from "@scheduling/domain/Api"
import { SslMonitor } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { Conflict } from "@scheduling/domain/shared/Errors"
import { Effect, identity } from "effect"
import { implement, inWorkspace } from "../../http/index.ts"
import { monitorHandlers } from "../monitorHandlers.ts"
import { monitorsOf } from "../monitorsOf.ts"
import { sslKind } from "./sslKind.ts"
import { SslMonitorsRepo } from "./SslMonitorsRepo.ts"

export const SslMonitorsHandlers = implement(
  Api,
  "sslMonitors",
  Effect.fnUntraced(function* (handlers) {
    const monitors = yield* monitorsOf(yield* sslKind)
    const repo = yield* SslMonitorsRepo
    const { common, ofMonitor } = yield* monitorHandlers(monitors, {
      answer: SslMonitor,
      createOperation: "ssl_monitors.create",
      toAnswer: Effect.succeed(identity<SslMonitor>)
    })
    return handlers.handleAll({
      ...common,

      check: inWorkspace(
        ofMonitor((workspaceId, id) =>
          monitors.act(workspaceId, id, (row, at) => {
            if (row.status === "paused") {
              return Effect.fail(
                new Conflict({
                  resource: "monitor",
                  field: "status",
                  message: "The monitor is paused. Resume it before a check."
                })
              )
            }
            // A failure is confirmed a minute later, and the second check comes by then.
            const isConfirming = row.failures > 0 && row.status !== "down"
            return isConfirming ? Effect.void : repo.update(row, { check_at: at, failures: 0 })
          })
        )
      )
    })
  })
)
