import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { implement, inWorkspace } from "../../http/index.ts"
import { Activities } from "./Activities.ts"
import { ActivityTimelines } from "./ActivityTimelines.ts"

export const ActivityHandlers = implement(
  Api,
  "activity",
  Effect.fnUntraced(function* (handlers) {
    const activities = yield* Activities
    const timelines = yield* ActivityTimelines
    return handlers.handleAll({
      failing: inWorkspace((workspaceId, { query }) => activities.failing(workspaceId, query)),
      upcoming: inWorkspace((workspaceId, { query }) => activities.upcoming(workspaceId, query)),
      recent: inWorkspace((workspaceId, { query }) => activities.recent(workspaceId, query)),
      names: inWorkspace((workspaceId, { query }) => activities.names(workspaceId, query)),
      timeline: inWorkspace((workspaceId, { query }) => timelines.get(workspaceId, query))
    })
  })
)
