import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { implement } from "../http/implement.ts"
import { inWorkspace } from "../http/inWorkspace.ts"
import { Waiting } from "../http/Waiting.ts"
import { Executions } from "./Executions.ts"

export const ExecutionsHandlers = implement(
  Api,
  "executions",
  Effect.fnUntraced(function* (handlers) {
    const executions = yield* Executions
    const waiting = yield* Waiting
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => executions.list(workspaceId, query)),

      stats: inWorkspace((workspaceId, { query }) => executions.stats(workspaceId, query)),

      get: inWorkspace((workspaceId, { params: { execution_id }, query }) =>
        waiting.untilEnded(executions.get(workspaceId, execution_id), {
          seconds: query.wait_seconds,
          workspace_id: workspaceId,
          id: execution_id
        })
      )
    })
  })
)
