import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { idInPath, WorkspaceId } from "../shared/Ids.ts"
import { Internal } from "../shared/Internal.ts"
import {
  ActivityTimeline,
  ActivityTimelineQuery,
  maxTimelineDays,
  maxTimelineLanes
} from "./ActivityTimeline.ts"
import {
  ActivityQuery,
  FailingTasks,
  maxExaminedExecutions,
  maxExaminedFailures,
  RecentRuns,
  RecentRunsQuery,
  TaskNames,
  TaskNamesQuery,
  UpcomingRuns
} from "./Activity.ts"

const params = { workspace_id: idInPath(WorkspaceId) }
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
          "List failing tasks",
          "Active cron tasks and chains whose latest run failed, latest failure first. Only the workspace's latest " +
            `${inNumbers(maxExaminedFailures)} failed executions are examined. Runs that were ` +
            "skipped or cancelled, or have not finished, do not count."
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
          "List upcoming runs",
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
          "The results and durations of the latest runs of up to 100 cron tasks and chains in one response. At " +
            `most ${maxExaminedExecutions} executions of each are examined, so a chain with many steps shows ` +
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
          "The names of up to 100 tasks of any kind, for displaying executions."
        )
      ),

    HttpApiEndpoint.get("timeline", "/timeline", {
      params,
      query: ActivityTimelineQuery,
      success: ActivityTimeline
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotate(Internal, true)
      .annotateMerge(
        docs(
          "Get a timeline",
          `The finished, unfinished and planned runs of up to ${maxTimelineLanes} cron tasks and chains in ` +
            `at most ${maxTimelineDays} days, counted in buckets. The longer the range, the longer the buckets.`
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/activity")
  .annotateMerge(
    OpenApi.annotations({
      title: "Activity",
      description: "The latest and the next runs of tasks of all kinds."
    })
  ) {}
