import { Api } from "@scheduling/domain/Api"
import { ProcessMonitor } from "@scheduling/domain/monitors/process/ProcessMonitor"
import { Effect } from "effect"
import { createdIfNew, Idempotency, implement, inWorkspace } from "../../http/index.ts"
import { ProcessMonitors } from "./ProcessMonitors.ts"

export const ProcessMonitorsHandlers = implement(
  Api,
  "processMonitors",
  Effect.fnUntraced(function* (handlers) {
    const processMonitors = yield* ProcessMonitors
    const idempotency = yield* Idempotency
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => processMonitors.list(workspaceId, query)),

      create: inWorkspace((workspaceId, { headers, payload }) =>
        processMonitors.create(workspaceId, payload).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: "process_monitors.create",
            payload,
            answer: ProcessMonitor
          })
        )
      ),

      upsert: inWorkspace((workspaceId, { params, payload }) =>
        createdIfNew(processMonitors.upsert(workspaceId, params.key, payload))
      ),

      get: inWorkspace((workspaceId, { params }) =>
        processMonitors.get(workspaceId, params.monitor_id)
      ),

      update: inWorkspace((workspaceId, { params, payload }) =>
        processMonitors.update(workspaceId, params.monitor_id, payload)
      ),

      remove: inWorkspace((workspaceId, { params }) =>
        processMonitors.remove(workspaceId, params.monitor_id)
      ),

      pause: inWorkspace((workspaceId, { params }) =>
        processMonitors.pause(workspaceId, params.monitor_id)
      ),

      resume: inWorkspace((workspaceId, { params }) =>
        processMonitors.resume(workspaceId, params.monitor_id)
      ),

      events: inWorkspace((workspaceId, { params, query }) =>
        processMonitors.events(workspaceId, params.monitor_id, query)
      )
    })
  })
)
