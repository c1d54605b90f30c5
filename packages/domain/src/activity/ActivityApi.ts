import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { inPath, WorkspaceId } from "../shared/Ids.ts"
import { Internal } from "../shared/Internal.ts"
import {
  ActivityQuery,
  FailingTasks,
  maxExecutionsLookedAt,
  maxFailuresLookedAt,
  RecentRuns,
  RecentRunsQuery,
  TaskNames,
  TaskNamesQuery,
  UpcomingRuns
} from "./Activity.ts"

const params = { workspace_id: inPath(WorkspaceId) }
const inNumbers = (count: number) => count.toLocaleString("en")

export class ActivityApi extends HttpApiGroup.make("activity")
  .add(
    HttpApiEndpoint.get("failing", "/failing", {
      params,
      query: ActivityQuery,
      success: FailingTasks
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotate(Internal, true)
      .annotateMerge(
        docs(
          "List what fails now",
          "Active cron tasks and chains whose latest run failed, the last to fail first. They are looked for " +
            `among the workspace's latest ${inNumbers(maxFailuresLookedAt)} failed executions. Runs that were ` +
            "skipped or cancelled, or are not over, say nothing."
        )
      ),

    HttpApiEndpoint.get("upcoming", "/upcoming", {
      params,
      query: ActivityQuery,
      success: UpcomingRuns
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotate(Internal, true)
      .annotateMerge(
        docs(
          "List what runs next",
          "The next run of each cron task, scheduled chain and pending delayed task, soonest first."
        )
      ),

    HttpApiEndpoint.get("recent", "/recent", {
      params,
      query: RecentRunsQuery,
      success: RecentRuns
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotate(Internal, true)
      .annotateMerge(
        docs(
          "List the recent runs of many tasks",
          "The outcomes and durations of the latest runs of up to 100 cron tasks and chains in one answer. At " +
            `most ${maxExecutionsLookedAt} executions of each are looked at, so a chain of many steps shows ` +
            "fewer runs."
        )
      ),

    HttpApiEndpoint.get("names", "/names", {
      params,
      query: TaskNamesQuery,
      success: TaskNames
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotate(Internal, true)
      .annotateMerge(
        docs(
          "List the names of many tasks",
          "What up to 100 tasks of any kind are called, for those who show executions."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/activity")
  .annotateMerge(
    OpenApi.annotations({
      title: "Activity",
      description: "What tasks of all kinds did last, and what they do next."
    })
  ) {}
