import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planAllows } from "../billing/Limits.ts"
import { Execution, ExecutionPage } from "../executions/Execution.ts"
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
import { CronTaskId, ExecutionId, inPath, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { OwnKey, upsertDocs } from "../shared/requests/OwnKey.ts"
import {
  CronTask,
  CronTaskBatch,
  CronTaskBatchResult,
  CronTaskDefinition,
  CronTaskFilters,
  CronTaskInput,
  CronTaskPage,
  CronTaskUpdate,
  PreviewQuery,
  SchedulePreview
} from "./CronTask.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }
const task = { workspace_id: inPath(WorkspaceId), task_id: inPath(CronTaskId) }
const execution = { ...task, execution_id: inPath(ExecutionId) }

const inWorkspace = HttpApiGroup.make("cron")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: { ...PageQuery, ...CronTaskFilters },
      success: CronTaskPage
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(docs("List cron tasks", "The workspace's cron tasks, newest first.")),

    HttpApiEndpoint.post("create", "/", {
      params: workspace,
      headers: IdempotencyKey,
      payload: CronTaskInput,
      success: CronTask.pipe(HttpApiSchema.status(201)),
      error: [Conflict, IdempotencyConflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Create a cron task",
          `It is active at once. ${planAllows("cron tasks", "cron_tasks", 10_000)}`
        )
      ),

    HttpApiEndpoint.post("createMany", "/batch", {
      params: workspace,
      headers: IdempotencyKey,
      payload: CronTaskBatch,
      success: CronTaskBatchResult,
      error: [IdempotencyConflict, NotFound, RateLimited]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(batchDocs("cron tasks")),

    HttpApiEndpoint.get("preview", "/preview", {
      params: workspace,
      query: PreviewQuery,
      success: SchedulePreview
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(
        docs(
          "Preview a schedule",
          "When a schedule would fire from now on, and how clock changes and excluded days affect it."
        )
      ),

    HttpApiEndpoint.put("upsert", "/by-key/:key", {
      params: { ...workspace, key: OwnKey },
      payload: CronTaskDefinition,
      success: [CronTask, CronTask.pipe(HttpApiSchema.status(201))],
      error: [Conflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(upsertDocs("a cron task", "A paused task stays paused.")),

    HttpApiEndpoint.get("get", "/:task_id", { params: task, success: CronTask, error: NotFound })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(docs("Get a cron task", "The task, its next fire and its latest execution.")),

    HttpApiEndpoint.patch("update", "/:task_id", {
      params: task,
      payload: CronTaskUpdate,
      success: CronTask,
      error: [NotFound, Conflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Change a cron task",
          "Changes the fields that are given. Executions that have started are not affected."
        )
      ),

    HttpApiEndpoint.delete("remove", "/:task_id", { params: task, error: NotFound })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Delete a cron task",
          "Cancels its queued and running executions. Its history stays readable under executions."
        )
      ),

    HttpApiEndpoint.post("run", "/:task_id/run", {
      params: task,
      headers: IdempotencyKey,
      success: Execution.pipe(HttpApiSchema.status(202)),
      error: [NotFound, IdempotencyConflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Run a cron task now",
          "Queues one execution, even while the task is paused or another is in progress. " +
            "The schedule does not change. A task has at most 10,000 unfinished executions."
        )
      ),

    HttpApiEndpoint.post("pause", "/:task_id/pause", {
      params: task,
      success: CronTask,
      error: NotFound
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Pause a cron task",
          "The schedule stops firing, and its queued and running executions are cancelled. " +
            "Pausing again changes nothing."
        )
      ),

    HttpApiEndpoint.post("resume", "/:task_id/resume", {
      params: task,
      success: CronTask,
      error: [NotFound, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Resume a cron task",
          "The schedule fires again from now on. Fires during the pause are not made up " +
            "for. Resuming again changes nothing."
        )
      ),

    HttpApiEndpoint.get("executions", "/:task_id/executions", {
      params: task,
      query: PageQuery,
      success: ExecutionPage,
      error: NotFound
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotateMerge(docs("List a cron task's executions", "The task's executions, newest first.")),

    HttpApiEndpoint.post("cancel", "/:task_id/executions/:execution_id/cancel", {
      params: execution,
      success: Execution,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(cancelDocs)
  )
  .prefix("/workspaces/:workspace_id/cron")

export class CronApi extends inWorkspace
  .add(
    HttpApiEndpoint.get("listAll", "/cron-tasks", {
      query: { ...PageQuery, ...CronTaskFilters },
      success: CronTaskPage
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(
        docs(
          "List cron tasks of all workspaces",
          "The cron tasks of every workspace that you are a member of. An API key sees those of its own " +
            "workspace."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Cron tasks",
      description: "HTTP calls that repeat on a schedule, in a time zone."
    })
  ) {}
