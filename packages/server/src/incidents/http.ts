import { Api } from "@scheduling/domain/Api"
import { Principal } from "@scheduling/domain/auth/Principal"
import { Effect } from "effect"
import { checkRange, implement, inWorkspace } from "../http/index.ts"
import { Incidents } from "./Incidents.ts"

export const IncidentsHandlers = implement(
  Api,
  "incidents",
  Effect.fnUntraced(function* (handlers) {
    const incidents = yield* Incidents
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) =>
        Effect.andThen(checkRange(query), incidents.list(workspaceId, query))
      ),

      get: inWorkspace((workspaceId, { params }) => incidents.get(workspaceId, params.incident_id)),

      acknowledge: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { params }) {
          return yield* incidents.acknowledge(workspaceId, params.incident_id, yield* Principal)
        })
      )
    })
  })
)
