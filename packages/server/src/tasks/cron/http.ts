import { Api } from "@scheduling/domain/Api"
import { Principal } from "@scheduling/domain/auth/Principal"
import { CronTask, CronTaskBatchResult } from "@scheduling/domain/cron/CronTask"
import { Execution } from "@scheduling/domain/executions/Execution"
import { Effect } from "effect"
import { Calendars } from "../calendars/Calendars.ts"
import { createdIfNew, Idempotency, implement, inWorkspace } from "../../http/index.ts"
import { Batches } from "../batches/Batches.ts"
import { CronTasks } from "./CronTasks.ts"

export const CronHandlers = implement(
  Api,
  "cron",
  Effect.fnUntraced(function* (handlers) {
    const cron = yield* CronTasks
    const idempotency = yield* Idempotency
    const calendars = yield* Calendars
    const batches = yield* Batches
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
          }),
          calendars.readBefore(workspaceId, payload)
        )
      ),

      createMany: inWorkspace((workspaceId, { headers, payload }) =>
        batches.create(
          {
            key: headers["idempotency-key"],
            workspaceId,
            operation: "cron.createMany",
            items: payload.items,
            answer: CronTaskBatchResult
          },
          (input) => cron.create(workspaceId, input),
          (input) => calendars.readBefore(workspaceId, input)(Effect.void)
        )
      ),

      get: inWorkspace((workspaceId, { params }) => cron.get(workspaceId, params.task_id)),

      upsert: inWorkspace((workspaceId, { params, payload }) =>
        cron
          .upsert(workspaceId, params.key, payload)
          .pipe(calendars.readBefore(workspaceId, payload, "a change"), createdIfNew)
      ),

      update: inWorkspace((workspaceId, { params, payload }) =>
        cron
          .update(workspaceId, params.task_id, payload)
          .pipe(calendars.readBefore(workspaceId, payload, "a change"))
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

      preview: inWorkspace((workspaceId, { query }) => cron.preview(workspaceId, query))
    })
  })
)
