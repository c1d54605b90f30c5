import { Api } from "@scheduling/domain/Api"
import { DelayedTask, DelayedTaskBatchResult } from "@scheduling/domain/delayed/DelayedTask"
import { Execution } from "@scheduling/domain/executions/Execution"
import { Effect } from "effect"
import { createdIfNew, Idempotency, implement, inWorkspace } from "../../http/index.ts"
import { Batches } from "../batches/Batches.ts"
import { DelayedTasks } from "./DelayedTasks.ts"

export const DelayedHandlers = implement(
  Api,
  "delayed",
  Effect.fnUntraced(function* (handlers) {
    const delayed = yield* DelayedTasks
    const idempotency = yield* Idempotency
    const batches = yield* Batches
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => delayed.list(workspaceId, query)),

      create: inWorkspace((workspaceId, { headers, payload }) =>
        delayed.create(workspaceId, payload).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: "delayed.create",
            payload,
            answer: DelayedTask
          })
        )
      ),

      createMany: inWorkspace((workspaceId, { headers, payload }) =>
        batches.create(
          {
            key: headers["idempotency-key"],
            workspaceId,
            operation: "delayed.createMany",
            items: payload.items,
            answer: DelayedTaskBatchResult
          },
          (input) => delayed.create(workspaceId, input)
        )
      ),

      get: inWorkspace((workspaceId, { params }) => delayed.get(workspaceId, params.task_id)),

      upsert: inWorkspace((workspaceId, { params, payload }) =>
        createdIfNew(delayed.upsert(workspaceId, params.key, payload))
      ),

      update: inWorkspace((workspaceId, { params, payload }) =>
        delayed.update(workspaceId, params.task_id, payload)
      ),

      remove: inWorkspace((workspaceId, { params }) => delayed.remove(workspaceId, params.task_id)),

      run: inWorkspace((workspaceId, { headers, params }) =>
        delayed.run(workspaceId, params.task_id).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: `delayed.run ${params.task_id}`,
            payload: null,
            answer: Execution
          })
        )
      ),

      cancel: inWorkspace((workspaceId, { params }) =>
        delayed.cancel(workspaceId, params.task_id, params.execution_id)
      )
    })
  })
)
