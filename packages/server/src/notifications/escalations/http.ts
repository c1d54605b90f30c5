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
import { Escalations } from "./Escalations.ts"

export const EscalationsHandlers = implement(
  Api,
  "escalations",
  Effect.fnUntraced(function* (handlers) {
    const escalations = yield* Escalations
    const kinds = yield* DefinedKinds
    yield* kinds.add({
      kind: "escalation_policy",
      upsert: escalations.upsert,
      get: (workspaceId, { key }) => escalations.get(workspaceId, key),
      remove: (workspaceId, { key }) => escalations.prune(workspaceId, key)
    })
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => escalations.list(workspaceId, query)),

      get: inWorkspace((workspaceId, { params }) =>
        withETag(escalations.get(workspaceId, params.key))
      ),

      upsert: inWorkspace((workspaceId, { headers, params, payload }) =>
        upsertResponse(
          escalations.upsert(workspaceId, params.key, withExpectedVersion(headers, payload))
        )
      ),

      delete: inWorkspace((workspaceId, { headers, params }) =>
        escalations.remove(workspaceId, params.key, ifMatchVersion(headers))
      )
    })
  })
)
