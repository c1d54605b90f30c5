import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import {
  upsertResponse,
  DefinedKinds,
  withExpectedVersion,
  implement,
  inWorkspace,
  ifMatchVersion,
  withETag
} from "../http/index.ts"
import { StatusPages } from "./StatusPages.ts"

export const StatusPagesHandlers = implement(
  Api,
  "statusPages",
  Effect.fnUntraced(function* (handlers) {
    const pages = yield* StatusPages
    const kinds = yield* DefinedKinds
    yield* kinds.add({
      kind: "status_page",
      upsert: pages.upsert,
      get: (workspaceId, { key }) => pages.get(workspaceId, key),
      remove: (workspaceId, { key }) => pages.remove(workspaceId, key)
    })
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => pages.list(workspaceId, query)),

      get: inWorkspace((workspaceId, { params }) => withETag(pages.get(workspaceId, params.slug))),

      upsert: inWorkspace((workspaceId, { headers, params, payload }) =>
        upsertResponse(
          pages.upsert(workspaceId, params.slug, withExpectedVersion(headers, payload))
        )
      ),

      delete: inWorkspace((workspaceId, { headers, params }) =>
        pages.remove(workspaceId, params.slug, ifMatchVersion(headers))
      )
    })
  })
)
