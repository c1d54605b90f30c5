import { Api } from "@scheduling/domain/Api"
import { DelayedTask } from "@scheduling/domain/delayed/DelayedTask"
import { Execution } from "@scheduling/domain/executions/Execution"
import { Effect } from "effect"
import { Idempotency } from "../platform/Idempotency.ts"
import { implement } from "../platform/implement.ts"
import { DelayedTasks } from "./DelayedTasks.ts"

export const DelayedHandlers = implement(
  Api,
  "delayed",
  Effect.fnUntraced(function* (handlers) {
    const delayed = yield* DelayedTasks
    const idempotency = yield* Idempotency
    return handlers.handleAll({
      list: ({ params, query }) => delayed.list(params.workspace_id, query),

      create: ({ headers, params, payload }) =>
        delayed.create(params.workspace_id, payload).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId: params.workspace_id,
            operation: "delayed.create",
            payload,
            answer: DelayedTask
          })
        ),

      get: ({ params }) => delayed.get(params.workspace_id, params.task_id),

      update: ({ params, payload }) => delayed.update(params.workspace_id, params.task_id, payload),

      remove: ({ params }) => delayed.remove(params.workspace_id, params.task_id),

      run: ({ headers, params }) =>
        delayed.run(params.workspace_id, params.task_id).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId: params.workspace_id,
            operation: `delayed.run ${params.task_id}`,
            payload: null,
            answer: Execution
          })
        ),

      cancel: ({ params }) =>
        delayed.cancel(params.workspace_id, params.task_id, params.execution_id)
    })
  })
)
