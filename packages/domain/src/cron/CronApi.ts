import { Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planLimitSentence } from "../billing/Limits.ts"
import { versionEndpoints } from "../definitions/versionEndpoints.ts"
import { Execution, ExecutionFilters, ExecutionPage } from "../executions/Execution.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { NotFound } from "../shared/Errors.ts"
import { CronTaskId, idInPath, WorkspaceId } from "../shared/Ids.ts"
import { idOrKey } from "../shared/requests/CallerChosenKey.ts"
import { PageQuery, TotalQuery } from "../shared/requests/Page.ts"
import { scheduledEndpoints, taskEndpoints } from "../tasks/taskEndpoints.ts"
import { triggerEndpoints } from "../tasks/triggerEndpoints.ts"
import { uptimeEndpoints } from "../tasks/uptimeEndpoints.ts"
import {
  CronTask,
  CronTaskBatch,
  CronTaskBatchResult,
  CronTaskDefinition,
  CronTaskInput,
  CronTaskPage,
  CronTaskQuery,
  CronTaskUpdate,
  PreviewQuery,
  SchedulePreview
} from "./CronTask.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const params = { ...workspace, task_id: idOrKey(CronTaskId, "cron") }
const noun = "a cron task"
const path = "/:task_id"

const tasks = taskEndpoints({
  noun,
  path,
  params,
  query: CronTaskQuery,
  schemas: {
    task: CronTask,
    input: CronTaskInput,
    definition: CronTaskDefinition,
    page: CronTaskPage,
    batch: CronTaskBatch,
    batchResult: CronTaskBatchResult
  },
  texts: {
    list: "The workspace's cron tasks, newest first.",
    create: `The task is active immediately. ${planLimitSentence("cron tasks", "cron_tasks", 10_000)}`,
    upsert: "A paused task stays paused.",
    get: "The task, its next firing and its latest execution."
  }
})

const inWorkspace = HttpApiGroup.make("cron")
  .add(
    tasks.list,
    tasks.create,
    tasks.createMany,

    HttpApiEndpoint.get("preview", "/preview", {
      params: workspace,
      query: PreviewQuery,
      success: SchedulePreview
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(
        docs(
          "Preview a schedule",
          "The next times at which a schedule would fire, and how clock changes and excluded days affect them."
        )
      ),

    tasks.upsert,
    tasks.get,
    ...scheduledEndpoints({
      noun,
      path,
      params,
      schemas: { task: CronTask, update: CronTaskUpdate, run: Execution },
      texts: {
        update: "Executions that have started are not affected.",
        remove:
          "Cancels its queued and running executions. Its history stays available under executions.",
        run:
          "Queues one execution, even while the task is paused or another is in progress. " +
          "The schedule does not change. A task can have at most 10,000 unfinished executions.",
        pause: "The schedule stops firing, and its queued and running executions are cancelled.",
        backfill: "Queues an execution"
      }
    }),

    ...triggerEndpoints({ noun, path, params }),

    ...uptimeEndpoints({ noun, path, params }),

    ...versionEndpoints({
      noun,
      path,
      params,
      record: CronTask,
      read: Access.scope("tasks:read"),
      write: Access.scope("tasks:write")
    }),

    HttpApiEndpoint.get("listExecutions", "/:task_id/executions", {
      params,
      query: {
        ...PageQuery,
        ...Struct.omit(ExecutionFilters, ["kind", "tag", "task_id"]),
        ...TotalQuery
      },
      success: ExecutionPage,
      error: NotFound
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotateMerge(docs("List a cron task's executions", "The task's executions, newest first."))
  )
  .prefix("/workspaces/:workspace_id/cron")

export class CronApi extends inWorkspace
  .add(
    HttpApiEndpoint.get("listAll", "/cron-tasks", {
      query: CronTaskQuery,
      success: CronTaskPage
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(
        docs(
          "List cron tasks of all workspaces",
          "The cron tasks of every workspace that you are a member of. An API key sees the cron tasks of its own " +
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
