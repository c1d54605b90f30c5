import type { MonitorKind, MonitorPage, MonitorQuery } from "@scheduling/domain/monitors/Monitor"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { parseIds } from "@scheduling/domain/shared/requests/ManyIds"
import type { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { countedPage, listRequest, StoreClock, toPage } from "../store/index.ts"
import { MonitorListRepo } from "./MonitorListRepo.ts"
import { monitorSorts, toMonitorFields } from "./MonitorTable.ts"

interface Query extends MonitorQuery {
  readonly kind?: ReadonlyArray<MonitorKind>
  readonly monitor_ids?: string
}

/** Lists monitors of all kinds, with the fields that all kinds have. */
export class Monitors extends Context.Service<
  Monitors,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: Query
    ) => Effect.Effect<MonitorPage, ValidationFailed>
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
            const page = yield* listRequest(query, monitorSorts)
            const filters = {
              ...query,
              ...(monitor_ids !== undefined && { ids: parseIds(monitor_ids) })
            }
            const at = yield* now
            const listed = Effect.map(repo.list(workspaceId, filters, page, at), (rows) =>
              toPage(rows, page, (row) => ({
                kind: row.kind,
                ...toMonitorFields(row, at, row.next_check_at, row.late_after)
              }))
            )
            const [counted, counts] = yield* Effect.all(
              [
                countedPage(query, listed, repo.count(workspaceId, filters, at)),
                repo.countByStatus(workspaceId, at)
              ],
              { concurrency: 2 }
            )
            return { ...counted, counts }
          })
        })
      })
    )
}
