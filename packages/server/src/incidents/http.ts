import { Api } from "@scheduling/domain/Api"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { actorOf, Principal } from "@scheduling/domain/auth/Principal"
import { IncidentSubjectKind } from "@scheduling/domain/incidents/Incident"
import { MonitorKind } from "@scheduling/domain/monitors/Monitor"
import { Effect } from "effect"
import { checkTimeRange, implement, inWorkspace } from "../http/index.ts"
import { type IncidentAccess, Incidents } from "./Incidents.ts"

export const IncidentsHandlers = implement(
  Api,
  "incidents",
  Effect.fnUntraced(function* (handlers) {
    const incidents = yield* Incidents
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) =>
        Effect.andThen(
          checkTimeRange(query),
          Effect.flatMap(accessTo(workspaceId, "read"), (access) => incidents.list(access, query))
        )
      ),

      get: inWorkspace((workspaceId, { params }) =>
        Effect.flatMap(accessTo(workspaceId, "read"), (access) =>
          incidents.get(access, params.incident_id)
        )
      ),

      acknowledge: inWorkspace((workspaceId, { params }) =>
        Effect.flatMap(accessTo(workspaceId, "write"), (access) =>
          incidents.acknowledge(access, params.incident_id)
        )
      ),

      snooze: inWorkspace((workspaceId, { params, payload }) =>
        Effect.flatMap(accessTo(workspaceId, "write"), (access) =>
          incidents.snooze(access, params.incident_id, payload.until)
        )
      ),

      addNote: inWorkspace((workspaceId, { params, payload }) =>
        Effect.flatMap(accessTo(workspaceId, "write"), (access) =>
          incidents.addNote(access, params.incident_id, payload.text)
        )
      ),

      close: inWorkspace((workspaceId, { params }) =>
        Effect.flatMap(accessTo(workspaceId, "write"), (access) =>
          incidents.close(access, params.incident_id)
        )
      )
    })
  })
)

/**
 * Returns which incidents a principal is allowed to see. To see incidents of tasks, an API key
 * needs a scope for tasks in addition to the scope for monitors.
 */
const accessTo = (
  workspaceId: AuthorizedWorkspaceId,
  verb: "read" | "write"
): Effect.Effect<IncidentAccess, never, Principal> =>
  Effect.map(Principal, (principal) => ({
    workspaceId,
    actor: actorOf(principal),
    kinds:
      principal.kind === "jwt" || principal.scopes.includes(`tasks:${verb}`)
        ? IncidentSubjectKind.literals
        : MonitorKind.literals
  }))
