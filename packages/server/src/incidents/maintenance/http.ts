import { Api } from "@scheduling/domain/Api"
import { InsufficientScope } from "@scheduling/domain/auth/AuthErrors"
import { Principal } from "@scheduling/domain/auth/Principal"
import type { MaintenanceWindowDefinition } from "@scheduling/domain/maintenance/MaintenanceWindow"
import { Effect } from "effect"
import {
  createdIfNew,
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
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => maintenance.list(workspaceId, query)),

      get: inWorkspace((workspaceId, { params }) =>
        withETag(maintenance.get(workspaceId, params.key))
      ),

      upsert: inWorkspace((workspaceId, { headers, params, payload }) =>
        Effect.andThen(
          checkScope(payload),
          createdIfNew(
            maintenance.upsert(workspaceId, params.key, withExpectedVersion(headers, payload))
          )
        )
      ),

      delete: inWorkspace((workspaceId, { headers, params }) =>
        maintenance.remove(workspaceId, params.key, ifMatchVersion(headers))
      )
    })
  })
)

/** An API key that may not change tasks cannot silence them either. */
const checkScope = ({
  everything = false,
  tags = [],
  task_ids = []
}: Pick<MaintenanceWindowDefinition, "everything" | "tags" | "task_ids">) =>
  Effect.flatMap(Principal, (principal) =>
    principal.kind === "api_key" &&
    (everything || tags.length > 0 || task_ids.length > 0) &&
    !principal.scopes.includes("tasks:write")
      ? Effect.fail(new InsufficientScope({ required_scope: "tasks:write" }))
      : Effect.void
  )
