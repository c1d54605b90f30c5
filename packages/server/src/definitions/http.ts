import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { implement, inWorkspace } from "../http/index.ts"
import { Definitions } from "./Definitions.ts"

export const DefinitionsHandlers = implement(
  Api,
  "definitions",
  Effect.fnUntraced(function* (handlers) {
    const definitions = yield* Definitions
    return handlers.handleAll({
      apply: inWorkspace((workspaceId, { payload, query }) =>
        definitions.apply(workspaceId, payload, query)
      ),

      export: inWorkspace((workspaceId, { query }) => definitions.export(workspaceId, query.owner))
    })
  })
)
