import { Api } from "@scheduling/domain/Api"
import { Principal } from "@scheduling/domain/auth/Principal"
import { CronTask, CronTaskBatchResult } from "@scheduling/domain/cron/CronTask"
import { Execution } from "@scheduling/domain/executions/Execution"
import { Effect } from "effect"
import { checkTimeRange, implement, inWorkspace } from "../../http/index.ts"
import { Calendars } from "../calendars/Calendars.ts"
import { scheduledHandlers } from "../scheduledHandlers.ts"
import { taskHandlers } from "../taskHandlers.ts"
import { triggerHandlers } from "../triggers/triggerHandlers.ts"
import { uptimeHandlers } from "../uptime/uptimeHandlers.ts"
import { CronTasks } from "./CronTasks.ts"

const idOf = ({ task_id }: { readonly task_id: string }) => task_id

export const CronHandlers = implement(
  Api,
  "cron",
  Effect.fnUntraced(function* (handlers) {
    const cron = yield* CronTasks
    const calendars = yield* Calendars
    return handlers.handleAll({
      ...(yield* taskHandlers({
        name: "cron",
        tasks: cron,
        answers: { task: CronTask, batch: CronTaskBatchResult, run: Execution },
        prepare: calendars.readBefore
      })),

      ...(yield* scheduledHandlers("cron", cron, idOf)),

      ...(yield* triggerHandlers("cron", idOf)),

      ...(yield* uptimeHandlers("cron", idOf)),

      listAll: Effect.fnUntraced(function* ({ query }) {
        return yield* cron.listAll(yield* Principal, query)
      }),

      listExecutions: inWorkspace((workspaceId, { params, query }) =>
        Effect.andThen(checkTimeRange(query), cron.executions(workspaceId, params.task_id, query))
      ),

      preview: inWorkspace((workspaceId, { query }) => cron.preview(workspaceId, query))
    })
  })
)
