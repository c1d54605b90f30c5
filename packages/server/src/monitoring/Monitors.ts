import type { MonitorFilters, MonitorKind, MonitorPage } from "@scheduling/domain/monitors/Monitor"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { idsIn } from "@scheduling/domain/shared/requests/ManyIds"
import type { PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { pageRequest, StoreClock, toPage } from "../store/index.ts"
import { MonitorListRepo } from "./MonitorListRepo.ts"
import { toMonitorFields } from "./MonitorRows.ts"

interface MonitorQuery extends PageQuery, MonitorFilters {
  readonly kind?: MonitorKind
  readonly monitor_ids?: string
}

/** Lists monitors of all kinds, with the fields that all kinds have. */
export class Monitors extends Context.Service<
  Monitors,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: MonitorQuery
    ) => Effect.Effect<MonitorPage>
  }
>()("@scheduling/server/monitoring/Monitors") {
  static readonly layer: Layer.Layer<Monitors, never, MonitorListRepo | SqlClient.SqlClient> =
    Layer.effect(
      Monitors,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const now = Effect.orDie((yield* StoreClock)(sql))
        const repo = yield* MonitorListRepo
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
            const listed = toPage(rows, page, (row) => ({
              kind: row.kind,
              ...toMonitorFields(row, at, row.next_check_at, row.late_after)
            }))
            return { ...listed, counts }
          })
        })
      })
    )
}
