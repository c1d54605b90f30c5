import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { currentAuthor } from "../accounts/index.ts"
import { createdIfNew, implement, inWorkspace } from "../http/index.ts"
import { WorkspaceSecrets } from "./WorkspaceSecrets.ts"

export const SecretsHandlers = implement(
  Api,
  "secrets",
  Effect.fnUntraced(function* (handlers) {
    const secrets = yield* WorkspaceSecrets
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => secrets.list(workspaceId, query)),

      upsert: inWorkspace((workspaceId, { params, payload }) =>
        createdIfNew(
          Effect.flatMap(currentAuthor, (author) =>
            secrets.upsert(workspaceId, params.name, payload, author)
          )
        )
      ),

      delete: inWorkspace((workspaceId, { params }) =>
        Effect.flatMap(currentAuthor, (author) => secrets.remove(workspaceId, params.name, author))
      )
    })
  })
)
