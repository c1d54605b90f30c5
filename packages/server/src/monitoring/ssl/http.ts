import { Api } from "@scheduling/domain/Api"
import { SslMonitor } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { Conflict } from "@scheduling/domain/shared/Errors"
import { Effect, identity } from "effect"
import { implement, inWorkspace } from "../../http/index.ts"
import { monitorHandlers } from "../monitorHandlers.ts"
import { makeKindMonitors } from "../KindMonitors.ts"
import { sslKind } from "./sslKind.ts"
import { SslMonitorsRepo } from "./SslMonitorsRepo.ts"

export const SslMonitorsHandlers = implement(
  Api,
  "sslMonitors",
  Effect.fnUntraced(function* (handlers) {
    const monitors = yield* makeKindMonitors(yield* sslKind)
    const repo = yield* SslMonitorsRepo
    const { common, handleMonitor } = yield* monitorHandlers(monitors, {
      answer: SslMonitor,
      createOperation: "ssl_monitors.create",
      toAnswer: Effect.succeed(identity<SslMonitor>)
    })
    return handlers.handleAll({
      ...common,

      check: inWorkspace(
        handleMonitor((workspaceId, id) =>
          monitors.act(workspaceId, id, (row, at) => {
            if (row.status === "paused") {
              return Effect.fail(
                new Conflict({
                  resource: "monitor",
                  field: "status",
                  message: "The monitor is paused. Resume it before you check it."
                })
              )
            }
            // A failure that is not confirmed yet is checked again within a minute anyway.
            const isConfirming = row.failures > 0 && row.status !== "down"
            return isConfirming ? Effect.void : repo.update(row, { check_at: at, failures: 0 })
          })
        )
      )
    })
  })
)
