import { Api } from "@scheduling/domain/Api"
import { Principal } from "@scheduling/domain/auth/Principal"
import { CronTask } from "@scheduling/domain/cron/CronTask"
import { Execution } from "@scheduling/domain/executions/Execution"
import { Effect } from "effect"
import { createdIfNew } from "../http/answers/createdIfNew.ts"
import { Idempotency } from "../http/request/Idempotency.ts"
import { implement } from "../http/implement.ts"
import { inWorkspace } from "../http/inWorkspace.ts"
import { CronTasks } from "./CronTasks.ts"

export const CronHandlers = implement(
  Api,
  "cron",
  Effect.fnUntraced(function* (handlers) {
    const cron = yield* CronTasks
    const idempotency = yield* Idempotency
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => cron.list(workspaceId, query)),

      listAll: Effect.fnUntraced(function* ({ query }) {
        return yield* cron.listAll(yield* Principal, query)
      }),

      create: inWorkspace((workspaceId, { headers, payload }) =>
        cron.create(workspaceId, payload).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: "cron.create",
            payload,
            answer: CronTask
          })
        )
      ),

      get: inWorkspace((workspaceId, { params }) => cron.get(workspaceId, params.task_id)),

      upsert: inWorkspace((workspaceId, { params, payload }) =>
        createdIfNew(cron.upsert(workspaceId, params.key, payload))
      ),

      update: inWorkspace((workspaceId, { params, payload }) =>
        cron.update(workspaceId, params.task_id, payload)
      ),

      remove: inWorkspace((workspaceId, { params }) => cron.remove(workspaceId, params.task_id)),

      run: inWorkspace((workspaceId, { headers, params }) =>
        cron.run(workspaceId, params.task_id).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: `cron.run ${params.task_id}`,
            payload: null,
            answer: Execution
          })
        )
      ),

      pause: inWorkspace((workspaceId, { params }) => cron.pause(workspaceId, params.task_id)),

      resume: inWorkspace((workspaceId, { params }) => cron.resume(workspaceId, params.task_id)),

      executions: inWorkspace((workspaceId, { params, query }) =>
        cron.executions(workspaceId, params.task_id, query)
      ),

      cancel: inWorkspace((workspaceId, { params }) =>
        cron.cancel(workspaceId, params.task_id, params.execution_id)
      ),

      preview: ({ query }) => cron.preview(query)
    })
  })
)
