import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { implement } from "../platform/implement.ts"
import { Waiting } from "../platform/Waiting.ts"
import { Executions } from "./Executions.ts"

export const ExecutionsHandlers = implement(
  Api,
  "executions",
  Effect.fnUntraced(function* (handlers) {
    const executions = yield* Executions
    const waiting = yield* Waiting
    return handlers.handleAll({
      list: ({ params, query }) => executions.list(params.workspace_id, query),

      stats: ({ params, query }) => executions.stats(params.workspace_id, query),

      get: ({ params: { execution_id, workspace_id }, query }) =>
        waiting.untilEnded(executions.get(workspace_id, execution_id), {
          seconds: query.wait_seconds,
          workspace_id,
          id: execution_id
        })
    })
  })
)
