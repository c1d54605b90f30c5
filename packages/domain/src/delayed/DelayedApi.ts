import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Execution } from "../executions/Execution.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, IdempotencyConflict, NotFound, QuotaExceeded } from "../shared/Errors.ts"
import { IdempotencyKey } from "../shared/IdempotencyKey.ts"
import { DelayedTaskId, ExecutionId, inPath, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/Page.ts"
import {
  DelayedTask,
  DelayedTaskFilters,
  DelayedTaskInput,
  DelayedTaskPage,
  DelayedTaskUpdate
} from "./DelayedTask.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }
const task = { workspace_id: inPath(WorkspaceId), task_id: inPath(DelayedTaskId) }
const execution = { ...task, execution_id: inPath(ExecutionId) }

export class DelayedApi extends HttpApiGroup.make("delayed")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: { ...PageQuery, ...DelayedTaskFilters },
      success: DelayedTaskPage
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(
        docs("List delayed tasks", "Pending, finished and cancelled ones, newest first.")
      ),

    HttpApiEndpoint.post("create", "/", {
      params: workspace,
      headers: IdempotencyKey,
      payload: DelayedTaskInput,
      success: DelayedTask.pipe(HttpApiSchema.status(201)),
      error: [IdempotencyConflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Create a delayed task",
          "One call at a time, or after a delay, of at most 365 days. A workspace has at most " +
            "100,000 pending ones."
        )
      ),

    HttpApiEndpoint.get("get", "/:task_id", { params: task, success: DelayedTask, error: NotFound })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(docs("Get a delayed task", "The task and how its execution went.")),

    HttpApiEndpoint.patch("update", "/:task_id", {
      params: task,
      payload: DelayedTaskUpdate,
      success: DelayedTask,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Change a delayed task",
          "Changes the fields that are given while the task is pending; after that it answers 409."
        )
      ),

    HttpApiEndpoint.delete("remove", "/:task_id", { params: task, error: [NotFound, Conflict] })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Cancel a delayed task",
          "A pending task will not run; it stays listed as `cancelled`, and cancelling again " +
            "changes nothing. One that is running or finished answers 409."
        )
      ),

    HttpApiEndpoint.post("run", "/:task_id/run", {
      params: task,
      headers: IdempotencyKey,
      success: Execution.pipe(HttpApiSchema.status(202)),
      error: [NotFound, Conflict, IdempotencyConflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Run a delayed task now",
          "A pending task runs now instead of at `run_at`, a finished one runs once more. One " +
            "that is running or cancelled answers 409."
        )
      ),

    HttpApiEndpoint.post("cancel", "/:task_id/executions/:execution_id/cancel", {
      params: execution,
      success: Execution,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Cancel an execution",
          "Ends a queued or running execution. A running call is cut off, so the answer may " +
            "still say `running`. One that has ended otherwise answers 409."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/delayed")
  .annotateMerge(
    OpenApi.annotations({
      title: "Delayed tasks",
      description: "HTTP calls that are made once, later."
    })
  ) {}
