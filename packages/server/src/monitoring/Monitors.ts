import type { MonitorFilters, MonitorKind, MonitorPage } from "@scheduling/domain/monitors/Monitor"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { idsIn } from "@scheduling/domain/shared/requests/ManyIds"
import type { PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { pageRequest, StoreClock, toPage } from "../store/index.ts"
import { MonitorsRepo, toMonitor } from "./MonitorsRepo.ts"

interface MonitorQuery extends PageQuery, MonitorFilters {
  readonly kind?: MonitorKind
  /** With commas between them. */
  readonly monitor_ids?: string
}

/** Monitors of all kinds, as far as they are alike. */
export class Monitors extends Context.Service<
  Monitors,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: MonitorQuery
    ) => Effect.Effect<MonitorPage>
  }
>()("@scheduling/server/monitoring/Monitors") {
  static readonly layer: Layer.Layer<Monitors, never, MonitorsRepo | SqlClient.SqlClient> =
    Layer.effect(
      Monitors,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const now = Effect.orDie((yield* StoreClock)(sql))
        const repo = yield* MonitorsRepo
        return Monitors.of({
          list: Effect.fn("Monitors.list")(function* (workspaceId, { monitor_ids, ...query }) {
            const page = pageRequest(query)
            const ids = monitor_ids === undefined ? undefined : idsIn(monitor_ids)
            const at = yield* now
            const [rows, counts] = yield* Effect.all(
              [
                repo.list(workspaceId, { ...query, ids }, page, at),
                repo.countByStatus(workspaceId, at)
              ],
              { concurrency: 2 }
            )
            return { ...toPage(rows, page, toMonitor), counts }
          })
        })
      })
    )
}
