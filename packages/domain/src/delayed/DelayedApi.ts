import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planAllows } from "../billing/Limits.ts"
import { Execution } from "../executions/Execution.ts"
import { cancelDocs } from "../executions/cancelDocs.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { batchDocs } from "../shared/requests/Batch.ts"
import {
  Conflict,
  IdempotencyConflict,
  NotFound,
  QuotaExceeded,
  RateLimited
} from "../shared/Errors.ts"
import { IdempotencyKey } from "../shared/requests/IdempotencyKey.ts"
import { DelayedTaskId, ExecutionId, inPath, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { OwnKey, upsertDocs } from "../shared/requests/OwnKey.ts"
import {
  DelayedTask,
  DelayedTaskBatch,
  DelayedTaskBatchResult,
  DelayedTaskDefinition,
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
      error: [Conflict, IdempotencyConflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Create a delayed task",
          "One call at a given time or after a delay, at most 365 days ahead. " +
            planAllows("pending delayed tasks", "pending_delayed_tasks", 100_000)
        )
      ),

    HttpApiEndpoint.post("createMany", "/batch", {
      params: workspace,
      headers: IdempotencyKey,
      payload: DelayedTaskBatch,
      success: DelayedTaskBatchResult,
      error: [IdempotencyConflict, NotFound, RateLimited]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(batchDocs("delayed tasks")),

    HttpApiEndpoint.put("upsert", "/by-key/:key", {
      params: { ...workspace, key: OwnKey },
      payload: DelayedTaskDefinition,
      success: [DelayedTask, DelayedTask.pipe(HttpApiSchema.status(201))],
      error: [Conflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        upsertDocs(
          "a delayed task",
          "That holds even after the task has run. If something differs, a task that is no longer pending keeps its outcome, and a new task takes over its key. `delay_seconds` counts anew from each request."
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
          "Changes the fields that are given. Once the task is no longer pending, the answer is 409."
        )
      ),

    HttpApiEndpoint.delete("remove", "/:task_id", { params: task, error: [NotFound, Conflict] })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Cancel a delayed task",
          "A pending task will not run. It stays listed as `cancelled`, and cancelling again " +
            "changes nothing. If it is running or finished, the answer is 409."
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
          "A pending task runs now instead of at `run_at`. A finished task runs once more. If it " +
            "is running or cancelled, the answer is 409."
        )
      ),

    HttpApiEndpoint.post("cancel", "/:task_id/executions/:execution_id/cancel", {
      params: execution,
      success: Execution,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(cancelDocs)
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/delayed")
  .annotateMerge(
    OpenApi.annotations({
      title: "Delayed tasks",
      description: "HTTP calls that are made once, later."
    })
  ) {}
