import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { implement } from "../http/implement.ts"
import { inWorkspace } from "../http/inWorkspace.ts"
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
