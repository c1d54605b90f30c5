import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { NotFound } from "../shared/Errors.ts"
import { ExecutionId, inPath, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/Page.ts"
import { WaitQuery } from "../shared/WaitQuery.ts"
import { ExecutionDetail, ExecutionFilters, ExecutionPage } from "./Execution.ts"
import { ExecutionStats, StatsQuery } from "./ExecutionStats.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }
const execution = { workspace_id: inPath(WorkspaceId), execution_id: inPath(ExecutionId) }

export class ExecutionsApi extends HttpApiGroup.make("executions")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: { ...PageQuery, ...ExecutionFilters },
      success: ExecutionPage
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotateMerge(
        docs(
          "List executions",
          "What ran and what waits to run, newest first. `from` (inclusive) and `to` " +
            "(exclusive) refer to `scheduled_for`."
        )
      ),

    HttpApiEndpoint.get("stats", "/stats", {
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
