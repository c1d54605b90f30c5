import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { upsertResponse, implement, inWorkspace } from "../http/index.ts"
import { WorkspaceSecrets } from "./WorkspaceSecrets.ts"

export const SecretsHandlers = implement(
  Api,
  "secrets",
  Effect.fnUntraced(function* (handlers) {
    const secrets = yield* WorkspaceSecrets
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => secrets.list(workspaceId, query)),

      upsert: inWorkspace((workspaceId, { params, payload }) =>
        upsertResponse(secrets.upsert(workspaceId, params.name, payload))
      ),

      delete: inWorkspace((workspaceId, { params }) => secrets.remove(workspaceId, params.name))
    })
  })
)
