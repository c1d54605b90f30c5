import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { implement } from "../platform/implement.ts"
import { Executions } from "./Executions.ts"

export const ExecutionsHandlers = implement(
  Api,
  "executions",
  Effect.fnUntraced(function* (handlers) {
    const executions = yield* Executions
    return handlers.handleAll({
      list: ({ params, query }) => executions.list(params.workspace_id, query),

      stats: ({ params, query }) => executions.stats(params.workspace_id, query),

      get: ({ params }) => executions.get(params.workspace_id, params.execution_id)
    })
  })
)
