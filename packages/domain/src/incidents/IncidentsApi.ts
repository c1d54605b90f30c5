import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, NotFound } from "../shared/Errors.ts"
import { IncidentId, idInPath, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import {
  IncidentDetail,
  IncidentFilters,
  IncidentPage,
  maxIncidentActions,
  NoteRequest,
  SnoozeRequest
} from "./Incident.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const incident = { workspace_id: idInPath(WorkspaceId), incident_id: idInPath(IncidentId) }

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
          "The outages of monitors and the failures of cron tasks and chains, newest first. `from` (inclusive) " +
            "and `to` (exclusive) refer to `opened_at`. An API key also needs `tasks:read` to see incidents of " +
            "tasks."
        )
      ),

    HttpApiEndpoint.get("get", "/:incident_id", {
      params: incident,
      success: IncidentDetail,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(
        docs("Get an incident", "The incident, its cause, its history and the messages about it.")
      ),

    HttpApiEndpoint.post("acknowledge", "/:incident_id/acknowledge", {
      params: incident,
      success: IncidentDetail,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Acknowledge an incident",
          "Records that somebody is aware of the incident, and stops its reminders. Only the first " +
            "acknowledgement counts. An API key also needs `tasks:write` for the incident of a task."
        )
      ),

    HttpApiEndpoint.post("snooze", "/:incident_id/snooze", {
      params: incident,
      payload: SnoozeRequest,
      success: IncidentDetail,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Snooze an incident",
          "Stops reminders until the given time. If the incident is then still open and unacknowledged, a reminder is sent."
        )
      ),

    HttpApiEndpoint.post("addNote", "/:incident_id/notes", {
      params: incident,
      payload: NoteRequest,
      success: IncidentDetail,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Add a note to an incident",
          "Adds a note to the incident's history, even after the incident is closed. An incident keeps up to " +
            `${maxIncidentActions} notes and other manual actions.`
        )
      ),

    HttpApiEndpoint.post("close", "/:incident_id/close", {
      params: incident,
      success: IncidentDetail,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Close an incident",
          "Closes the incident although the monitor or task has not recovered. Nobody is notified of a " +
            "recovery, but channels that track incidents close their own. A monitor's next incident opens when it has recovered and fails again, a task's next incident after its next failures. Closing a closed incident changes nothing."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/incidents")
  .annotateMerge(
    OpenApi.annotations({
      title: "Incidents",
      description:
        "An incident is one outage of a monitor, or a cron task or chain that keeps failing, until it " +
        "recovers."
    })
  ) {}
