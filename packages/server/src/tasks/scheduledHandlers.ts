import { Backfill, type BackfillRequest } from "@scheduling/domain/tasks/Backfill"
import type { WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Effect } from "effect"
import { checkTimeRange, Idempotency, inWorkspace } from "../http/index.ts"
import type { PausableTasks } from "./Tasks.ts"

interface OfTask<Params> {
  readonly params: Params & { readonly workspace_id: WorkspaceId }
}

/** The handlers of the additional endpoints for the kinds of tasks that have a schedule. */
export const scheduledHandlers = Effect.fnUntraced(function* <Params, Task>(
  name: "chains" | "cron",
  tasks: Pick<
    PausableTasks<Task, never, never, never, string, never>,
    "backfill" | "pause" | "resume"
  >,
  idOf: (params: Params) => string
) {
  const idempotency = yield* Idempotency
  return {
    pause: inWorkspace((workspaceId, { params }: OfTask<Params>) =>
      tasks.pause(workspaceId, idOf(params))
    ),

    resume: inWorkspace((workspaceId, { params }: OfTask<Params>) =>
      tasks.resume(workspaceId, idOf(params))
    ),

    backfill: inWorkspace(
      (
        workspaceId,
        {
          headers,
          params,
          payload
        }: OfTask<Params> & {
          readonly headers: { readonly "idempotency-key"?: string }
          readonly payload: BackfillRequest
        }
      ) =>
        Effect.andThen(
          checkTimeRange(payload),
          tasks.backfill(workspaceId, idOf(params), payload)
        ).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: `${name}.backfill ${idOf(params)}`,
            payload,
            answer: Backfill
          })
        )
    )
  }
})
