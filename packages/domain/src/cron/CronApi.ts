import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Execution, ExecutionPage } from "../executions/Execution.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, IdempotencyConflict, NotFound, QuotaExceeded } from "../shared/Errors.ts"
import { IdempotencyKey } from "../shared/IdempotencyKey.ts"
import { CronTaskId, ExecutionId, inPath, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/Page.ts"
import {
  CronTask,
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
      error: [IdempotencyConflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Create a cron task",
          "It is active at once. A workspace has at most 10,000 cron tasks."
        )
      ),

    HttpApiEndpoint.get("preview", "/preview", {
      params: workspace,
      query: PreviewQuery,
      success: SchedulePreview
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(
        docs(
          "Preview a schedule",
          "When a schedule would fire from now on, and what clock changes do to it."
        )
      ),

    HttpApiEndpoint.get("get", "/:task_id", { params: task, success: CronTask, error: NotFound })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(docs("Get a cron task", "The task, its next fire and its latest execution.")),

    HttpApiEndpoint.patch("update", "/:task_id", {
      params: task,
      payload: CronTaskUpdate,
      success: CronTask,
      error: NotFound
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Change a cron task",
          "Changes the fields that are given. Executions that have started go on as they were."
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
          "Queues one execution, also while the task is paused and beside one that goes on. " +
            "The schedule stays as it is. A task has at most 10,000 unfinished executions."
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
      error: NotFound
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Resume a cron task",
          "The schedule fires again from now on; what passed during the pause is not made up " +
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
      .annotateMerge(docs("List a cron task's executions", "What the task ran, newest first.")),

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
          "Those of every workspace that you are a member of; for an API key those of its own " +
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
