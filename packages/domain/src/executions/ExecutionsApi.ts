import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, idempotencyErrors, NotFound, QuotaExceeded } from "../shared/Errors.ts"
import { IdempotencyKey } from "../shared/requests/IdempotencyKey.ts"
import { ExecutionId, inPath, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery, TotalQuery } from "../shared/requests/Page.ts"
import { WaitQuery } from "../shared/requests/WaitQuery.ts"
import {
  Execution,
  ExecutionDetail,
  ExecutionFilters,
  ExecutionPage,
  ScheduledFilters
} from "./Execution.ts"
import { ExecutionStats, StatsQuery } from "./ExecutionStats.ts"
import { RerunFilter, Reruns } from "./Rerun.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }
const execution = { workspace_id: inPath(WorkspaceId), execution_id: inPath(ExecutionId) }

export class ExecutionsApi extends HttpApiGroup.make("executions")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: { ...PageQuery, ...ExecutionFilters, ...TotalQuery },
      success: ExecutionPage
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotateMerge(
        docs(
          "List executions",
          "What ran, what is running and what is due, newest first. What is scheduled for later has a list of " +
            "its own; an execution that was cancelled before its time is shown here from its time on, and with " +
            "`status=cancelled` at once. Filters that may be repeated match any of their values. `tag` finds the " +
            "executions of tasks and chains that have the tag now, but none of a deleted one. `from` " +
            "(inclusive) and `to` (exclusive) refer to `scheduled_for`."
        )
      ),

    HttpApiEndpoint.get("listScheduled", "/scheduled", {
      params: workspace,
      query: { ...PageQuery, ...ScheduledFilters, ...TotalQuery },
      success: ExecutionPage
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotateMerge(
        docs(
          "List what is scheduled for later",
          "Executions that are queued for a time to come, soonest first: those of pending delayed tasks, and " +
            "of schedules that fire within seconds. `GET …/activity/upcoming` also has the next run of each schedule."
        )
      ),

    HttpApiEndpoint.get("getStats", "/stats", {
      params: workspace,
      query: StatsQuery,
      success: ExecutionStats
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotateMerge(
        docs(
          "Get statistics",
          "Counts, success rate and percentiles, in total and by hour or day. When absent, `to` is " +
            "now and `from` a day before it. At most 31 days by hour, 366 by day."
        )
      ),

    HttpApiEndpoint.get("get", "/:execution_id", {
      params: execution,
      query: WaitQuery,
      success: ExecutionDetail,
      error: NotFound
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotateMerge(
        docs(
          "Get an execution",
          "One execution with every attempt. With `wait_seconds` the answer comes when it has " +
            "ended."
        )
      ),

    HttpApiEndpoint.post("cancel", "/:execution_id/cancel", {
      params: execution,
      success: Execution,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Cancel an execution",
          "Ends a queued or running execution of any kind. A running call is cut off, so the answer may still " +
            "say `running`. If the execution is a step of a chain, its run ends with it, and no later step starts. " +
            "If it has ended in another way, the answer is 409. Cancelling again changes nothing."
        )
      ),

    HttpApiEndpoint.post("rerunMany", "/rerun", {
      params: workspace,
      headers: IdempotencyKey,
      payload: RerunFilter,
      success: Reruns.pipe(HttpApiSchema.status(202)),
      error: [NotFound, ...idempotencyErrors, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Run executions again",
          "Runs again what the filter finds, newest first, as far as its tasks still exist. A request looks at 1,000 " +
            "executions at most and queues all of its runs or none. While the answer has a `cursor`, send " +
            "it with the same filter to go on. A chain runs again once, as a whole. A " +
            "skipped step alone does not cause a rerun."
        )
      ),

    HttpApiEndpoint.post("rerun", "/:execution_id/rerun", {
      params: execution,
      headers: IdempotencyKey,
      success: Execution.pipe(HttpApiSchema.status(202)),
      error: [NotFound, Conflict, ...idempotencyErrors, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Run an execution again",
          "Queues a run of the same task, as the task is defined now, even while it is paused. The run has " +
            "the `scheduled_for` of the one that it repeats. For a step, the whole chain runs again. If the " +
            "execution or its chain run has not ended, the answer is 409."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/executions")
  .annotateMerge(
    OpenApi.annotations({
      title: "Executions",
      description:
        "The history of cron tasks, delayed tasks and chains, kept for 30 days by default."
    })
  ) {}
