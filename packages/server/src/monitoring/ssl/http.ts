import { Api } from "@scheduling/domain/Api"
import { SslMonitor } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { Effect } from "effect"
import { createdIfNew, Idempotency, implement, inWorkspace } from "../../http/index.ts"
import { SslMonitors } from "./SslMonitors.ts"

export const SslMonitorsHandlers = implement(
  Api,
  "sslMonitors",
  Effect.fnUntraced(function* (handlers) {
    const sslMonitors = yield* SslMonitors
    const idempotency = yield* Idempotency
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => sslMonitors.list(workspaceId, query)),

      create: inWorkspace((workspaceId, { headers, payload }) =>
        sslMonitors.create(workspaceId, payload).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: "ssl_monitors.create",
            payload,
            answer: SslMonitor
          })
        )
      ),

      upsert: inWorkspace((workspaceId, { params, payload }) =>
        createdIfNew(sslMonitors.upsert(workspaceId, params.key, payload))
      ),

      get: inWorkspace((workspaceId, { params }) =>
        sslMonitors.get(workspaceId, params.monitor_id)
      ),

      update: inWorkspace((workspaceId, { params, payload }) =>
        sslMonitors.update(workspaceId, params.monitor_id, payload)
      ),

      remove: inWorkspace((workspaceId, { params }) =>
        sslMonitors.remove(workspaceId, params.monitor_id)
      ),

      pause: inWorkspace((workspaceId, { params }) =>
        sslMonitors.pause(workspaceId, params.monitor_id)
      ),

      resume: inWorkspace((workspaceId, { params }) =>
        sslMonitors.resume(workspaceId, params.monitor_id)
      ),

      check: inWorkspace((workspaceId, { params }) =>
        sslMonitors.check(workspaceId, params.monitor_id)
      ),

      events: inWorkspace((workspaceId, { params, query }) =>
        sslMonitors.events(workspaceId, params.monitor_id, query)
      )
    })
  })
)
