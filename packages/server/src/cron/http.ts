import { Api } from "@scheduling/domain/Api"
import { Caller } from "@scheduling/domain/auth/Caller"
import { CronTask } from "@scheduling/domain/cron/CronTask"
import { Execution } from "@scheduling/domain/executions/Execution"
import { Effect } from "effect"
import { Idempotency } from "../platform/Idempotency.ts"
import { implement } from "../platform/implement.ts"
import { CronTasks } from "./CronTasks.ts"

export const CronHandlers = implement(
  Api,
  "cron",
  Effect.fnUntraced(function* (handlers) {
    const cron = yield* CronTasks
    const idempotency = yield* Idempotency
    return handlers.handleAll({
      list: ({ params, query }) => cron.list(params.workspace_id, query),

      listAll: Effect.fnUntraced(function* ({ query }) {
        return yield* cron.listAll(yield* Caller, query)
      }),

      create: ({ headers, params, payload }) =>
        cron.create(params.workspace_id, payload).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId: params.workspace_id,
            operation: "cron.create",
            payload,
            answer: CronTask
          })
        ),

      get: ({ params }) => cron.get(params.workspace_id, params.task_id),

      update: ({ params, payload }) => cron.update(params.workspace_id, params.task_id, payload),

      remove: ({ params }) => cron.remove(params.workspace_id, params.task_id),

      run: ({ headers, params }) =>
        cron.run(params.workspace_id, params.task_id).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId: params.workspace_id,
            operation: `cron.run ${params.task_id}`,
            payload: null,
            answer: Execution
          })
        ),

      pause: ({ params }) => cron.pause(params.workspace_id, params.task_id),

      resume: ({ params }) => cron.resume(params.workspace_id, params.task_id),

      executions: ({ params, query }) =>
        cron.executions(params.workspace_id, params.task_id, query),

      cancel: ({ params }) => cron.cancel(params.workspace_id, params.task_id, params.execution_id),

      preview: ({ query }) => cron.preview(query)
    })
  })
)
