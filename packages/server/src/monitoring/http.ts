import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { implement, inWorkspace } from "../http/index.ts"
import { Monitors } from "./Monitors.ts"

export const MonitorsHandlers = implement(
  Api,
  "monitors",
  Effect.fnUntraced(function* (handlers) {
    const monitors = yield* Monitors
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => monitors.list(workspaceId, query))
    })
  })
)
