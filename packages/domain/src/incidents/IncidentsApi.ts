import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { NotFound } from "../shared/Errors.ts"
import { IncidentId, inPath, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { IncidentDetail, IncidentFilters, IncidentPage } from "./Incident.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }
const incident = { workspace_id: inPath(WorkspaceId), incident_id: inPath(IncidentId) }

export class IncidentsApi extends HttpApiGroup.make("incidents")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: { ...PageQuery, ...IncidentFilters },
      success: IncidentPage
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(
        docs(
          "List incidents",
          "The outages of monitors, newest first. `from` (inclusive) and `to` (exclusive) " +
            "refer to `opened_at`."
        )
      ),

    HttpApiEndpoint.get("get", "/:incident_id", {
      params: incident,
      success: IncidentDetail,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(docs("Get an incident", "The incident, its cause and the messages about it.")),

    HttpApiEndpoint.post("acknowledge", "/:incident_id/acknowledge", {
      params: incident,
      success: IncidentDetail,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Acknowledge an incident",
          "Records that somebody is aware of the incident. Only the first acknowledgement counts."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/incidents")
  .annotateMerge(
    OpenApi.annotations({
      title: "Incidents",
      description: "An incident is one outage of a monitor, until it recovers."
    })
  ) {}
