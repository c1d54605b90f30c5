import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, idempotencyErrors, NotFound, QuotaExceeded } from "../shared/Errors.ts"
import { IdempotencyKey } from "../shared/requests/IdempotencyKey.ts"
import { ExecutionId, idInPath, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery, TotalQuery } from "../shared/requests/Page.ts"
import { WaitQuery } from "../shared/requests/WaitQuery.ts"
import {
  Execution,
  ExecutionDetail,
  ExecutionFilters,
  ExecutionPage,
  ScheduledFilters
} from "./Execution.ts"
import { DecisionRequest, NotApprover } from "./PendingApproval.ts"
import { ExecutionStats, StatsQuery } from "./ExecutionStats.ts"
import { RerunFilter, Reruns } from "./Rerun.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const execution = { workspace_id: idInPath(WorkspaceId), execution_id: idInPath(ExecutionId) }

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
          "Executions that are finished, running or due, newest first. Executions scheduled for later have a separate " +
            "list. An execution that was cancelled before it was due appears here from its scheduled time on, and with `status=cancelled` immediately. Repeatable filters match any of their values. `tag` finds the " +
            "executions of tasks and chains that currently have the tag, excluding deleted ones. `from` " +
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
          "List scheduled executions",
          "Executions that are queued for a later time, soonest first: those of pending delayed tasks, and " +
            "those of schedules that are due in a few seconds. `GET …/activity/upcoming` also lists each schedule's next run."
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
          "Counts, success rate and percentiles, in total and by hour or day. `to` defaults to " +
            "now, and `from` to a day before `to`. At most 31 days by hour, 366 by day."
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
          "One execution with all its attempts. With `wait_seconds`, the response waits until the execution has " +
            "finished."
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
          "Cancels a queued or running execution of any kind. A running call is aborted asynchronously, so the response may still " +
            "say `running`. If the execution is a step of a chain, its run is cancelled too, and no later step starts. " +
            "If the execution has already finished with another status, the response is 409. Cancelling a cancelled execution changes nothing."
        )
      ),

    HttpApiEndpoint.post("approve", "/:execution_id/approve", {
      params: execution,
      payload: DecisionRequest,
      success: Execution,
      error: [NotApprover, NotFound, Conflict]
    })
      .annotate(Access, Access.role("editor"))
      .annotateMerge(
        docs(
          "Approve a step",
          "The step of a chain that waits for approval succeeds, and the next step starts. If the step has " +
            "`approvers`, only these members can decide. If it no longer waits, the response is 409."
        )
      ),

    HttpApiEndpoint.post("reject", "/:execution_id/reject", {
      params: execution,
      payload: DecisionRequest,
      success: Execution,
      error: [NotApprover, NotFound, Conflict]
    })
      .annotate(Access, Access.role("editor"))
      .annotateMerge(
        docs(
          "Reject a step",
          "The step of a chain that waits for approval fails with `approval_rejected`. Otherwise, the same rules apply as for `approve`."
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
          "Rerun executions",
          "Reruns the executions that match the filter, newest first, if their tasks still exist. A request examines at most 1,000 " +
            "executions and queues either all of its runs or none. While the response has a `cursor`, send " +
            "it with the same filter to continue. A chain is rerun once, as a whole. A " +
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
          "Rerun an execution",
          "Queues a run of the task with its current definition, even while it is paused. The run has " +
            "the `scheduled_for` of the execution that it repeats. For a step, the whole chain is rerun. If the " +
            "execution or its chain run has not finished, the response is 409."
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
