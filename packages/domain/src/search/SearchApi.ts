import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { inPath, WorkspaceId } from "../shared/Ids.ts"
import { SearchQuery, SearchResults } from "./Search.ts"

export class SearchApi extends HttpApiGroup.make("search")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: { workspace_id: inPath(WorkspaceId) },
      query: SearchQuery,
      success: SearchResults
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(
        docs(
          "Search a workspace",
          "Finds tasks, queues, monitors, channels, workers and secrets by a part of what they are called, and " +
            "executions and incidents by their ids. First come those with exactly this name or key, then those " +
            "whose name begins with it or contains it. Delayed tasks without a name and a key are found by their ids.\n\n" +
            "An API key also needs `monitors:read` to find monitors and incidents, `notifications:read` to find " +
            "channels, and `executions:read` to find executions. It finds no workers and no secrets."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/search")
  .annotateMerge(
    OpenApi.annotations({ title: "Search", description: "Finds records of a workspace." })
  ) {}
