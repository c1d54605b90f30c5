import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import {
  upsertResponse,
  DefinedKinds,
  ifMatchVersion,
  implement,
  inWorkspace,
  withETag,
  withExpectedVersion
} from "../../http/index.ts"
import { Maintenance } from "./Maintenance.ts"

export const MaintenanceHandlers = implement(
  Api,
  "maintenance",
  Effect.fnUntraced(function* (handlers) {
    const maintenance = yield* Maintenance
    const kinds = yield* DefinedKinds
    yield* kinds.add({
      kind: "maintenance_window",
      upsert: maintenance.upsert,
      get: (workspaceId, { key }) => maintenance.get(workspaceId, key),
      remove: (workspaceId, { key }) => maintenance.remove(workspaceId, key)
    })
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => maintenance.list(workspaceId, query)),

      get: inWorkspace((workspaceId, { params }) =>
        withETag(maintenance.get(workspaceId, params.key))
      ),

      upsert: inWorkspace((workspaceId, { headers, params, payload }) =>
        upsertResponse(
          maintenance.upsert(workspaceId, params.key, withExpectedVersion(headers, payload))
        )
      ),

      delete: inWorkspace((workspaceId, { headers, params }) =>
        maintenance.remove(workspaceId, params.key, ifMatchVersion(headers))
      )
    })
  })
)
