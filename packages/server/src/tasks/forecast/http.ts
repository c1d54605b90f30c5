import { Api } from "@scheduling/domain/Api"
import { Effect } from "effect"
import { implement, inWorkspace } from "../../http/index.ts"
import { Forecasts } from "./Forecasts.ts"

export const ForecastHandlers = implement(
  Api,
  "forecast",
  Effect.fnUntraced(function* (handlers) {
    const forecasts = yield* Forecasts
    return handlers.handleAll({
      get: inWorkspace((workspaceId, { query }) => forecasts.get(workspaceId, query))
    })
  })
)
