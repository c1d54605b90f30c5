import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { idInPath, WorkspaceId } from "../shared/Ids.ts"
import { Forecast, ForecastQuery } from "./Forecast.ts"

export class ForecastApi extends HttpApiGroup.make("forecast")
  .add(
    HttpApiEndpoint.get("get", "/", {
      params: { workspace_id: idInPath(WorkspaceId) },
      query: ForecastQuery,
      success: Forecast
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(
        docs(
          "Get a forecast",
          "The number of runs of cron tasks, scheduled chains and delayed tasks that start in each minute, the tasks that " +
            "collide in the busiest minutes, and the effect of spreading them. At most 7 days and 5,000,000 " +
            "slots of different schedules; tasks with the same schedule and time zone are counted once."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/forecast")
  .annotateMerge(
    OpenApi.annotations({
      title: "Forecasts",
      description: "Upcoming runs per minute, and minutes in which many runs start."
    })
  ) {}
