import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { idInPath, WorkspaceId } from "../shared/Ids.ts"
import { SearchQuery, SearchResults } from "./Search.ts"

export class SearchApi extends HttpApiGroup.make("search")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: { workspace_id: idInPath(WorkspaceId) },
      query: SearchQuery,
      success: SearchResults
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(
        docs(
          "Search a workspace",
          "Finds tasks, queues, monitors, maintenance windows, status pages, channels, escalation policies, workers and secrets by a part of their " +
            "name or key, and executions and incidents by their ids. Exact matches of the name or key come first, then records " +
            "whose name starts with or contains the text. Delayed tasks without a name or key are found only by their ids.\n\n" +
            "An API key also needs `monitors:read` to find monitors, incidents, maintenance windows and status pages, `notifications:read` to find " +
            "channels and escalation policies, and `executions:read` to find executions. It cannot find workers and secrets."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/search")
  .annotateMerge(
    OpenApi.annotations({ title: "Search", description: "Finds records of a workspace." })
  ) {}
