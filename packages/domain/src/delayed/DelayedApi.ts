import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planLimitSentence } from "../billing/Limits.ts"
import { versionEndpoints } from "../definitions/versionEndpoints.ts"
import { Execution } from "../executions/Execution.ts"
import { RunRequest } from "../executions/RunRequest.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, idempotencyErrors, NotFound, QuotaExceeded, Stale } from "../shared/Errors.ts"
import { DelayedTaskId, idInPath, WorkspaceId } from "../shared/Ids.ts"
import { IdempotencyKey } from "../shared/requests/IdempotencyKey.ts"
import { idOrKey } from "../shared/requests/CallerChosenKey.ts"
import { IfMatch } from "../shared/requests/Version.ts"
import { taskEndpoints, updateDocs } from "../tasks/taskEndpoints.ts"
import {
  DelayedTask,
  DelayedTaskBatch,
  DelayedTaskBatchResult,
  DelayedTaskDefinition,
  DelayedTaskInput,
  DelayedTaskPage,
  DelayedTaskQuery,
  DelayedTaskUpdate
} from "./DelayedTask.ts"

const params = {
  workspace_id: idInPath(WorkspaceId),
  task_id: idOrKey(DelayedTaskId, "delayed")
}
const noun = "a delayed task"
const path = "/:task_id"

const tasks = taskEndpoints({
  noun,
  path,
  params,
  query: DelayedTaskQuery,
  schemas: {
    task: DelayedTask,
    input: DelayedTaskInput,
    definition: DelayedTaskDefinition,
    page: DelayedTaskPage,
    batch: DelayedTaskBatch,
    batchResult: DelayedTaskBatchResult
  },
  texts: {
    list: "Delayed tasks of any status, newest first.",
    create:
      "One call at a given time or after a delay, at most 365 days ahead. " +
      planLimitSentence("pending delayed tasks", "pending_delayed_tasks", 100_000),
    upsert:
      "This also holds after the task has run. If the definition differs, a task that is no longer " +
      "pending keeps its result, and a new task takes over its key. `delay_seconds` restarts " +
      "with each request.",
    get: "The task and its latest execution."
  }
})

export class DelayedApi extends HttpApiGroup.make("delayed")
  .add(
    tasks.list,
    tasks.create,
    tasks.createMany,
    tasks.upsert,
    tasks.get,
    ...versionEndpoints({
      noun,
      path,
      params,
      record: DelayedTask,
      read: Access.scope("tasks:read"),
      write: Access.scope("tasks:write")
    }),

    HttpApiEndpoint.patch("update", path, {
      params,
      headers: IfMatch,
      payload: DelayedTaskUpdate,
      success: DelayedTask,
      error: [NotFound, Conflict, Stale]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(updateDocs(noun, "If the task is no longer pending, the response is 409.")),

    HttpApiEndpoint.delete("delete", path, {
      params,
      headers: IfMatch,
      error: [NotFound, Conflict, Stale]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Cancel a delayed task",
          "A cancelled task does not run. It stays listed as `cancelled`, and cancelling again " +
            "changes nothing. If the task is running or finished, the response is 409."
        )
      ),

    HttpApiEndpoint.post("run", `${path}/run`, {
      params,
      headers: IdempotencyKey,
      payload: RunRequest,
      success: Execution.pipe(HttpApiSchema.status(202)),
      error: [NotFound, Conflict, ...idempotencyErrors, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Run a delayed task now",
          "A pending task runs now instead of at `run_at`. A finished task runs once more. If the task " +
            "is running or cancelled, the response is 409."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/delayed")
  .annotateMerge(
    OpenApi.annotations({
      title: "Delayed tasks",
      description: "HTTP calls that are made once, at a later time."
    })
  ) {}
