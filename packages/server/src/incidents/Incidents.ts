import { type Principal, principalId } from "@scheduling/domain/auth/Principal"
import type {
  IncidentDetail,
  IncidentFilters,
  IncidentPage
} from "@scheduling/domain/incidents/Incident"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { IncidentId } from "@scheduling/domain/shared/Ids"
import type { PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig, orNotFound } from "../core/index.ts"
import { pageRequest, StoreClock, toPage, transactionOf } from "../store/index.ts"
import { IncidentsRepo, toIncident, toIncidentDelivery } from "./IncidentsRepo.ts"

export class Incidents extends Context.Service<
  Incidents,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: PageQuery & IncidentFilters
    ) => Effect.Effect<IncidentPage>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: IncidentId
    ) => Effect.Effect<IncidentDetail, NotFound>
    readonly acknowledge: (
      workspaceId: AuthorizedWorkspaceId,
      id: IncidentId,
      principal: Principal["Service"]
    ) => Effect.Effect<IncidentDetail, NotFound>
  }
>()("@scheduling/server/incidents/Incidents") {
  static readonly layer: Layer.Layer<
    Incidents,
    never,
    AppConfig | IncidentsRepo | SqlClient.SqlClient
  > = Layer.effect(
    Incidents,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { retentionDays: retention_days } = yield* AppConfig
      const now = Effect.orDie((yield* StoreClock)(sql))
      const repo = yield* IncidentsRepo

      const get = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: IncidentId) {
        const incident = toIncident(yield* found(repo.find(workspaceId, id)))
        const deliveries = yield* repo.listDeliveries(workspaceId, id)
        return { ...incident, deliveries: deliveries.map(toIncidentDelivery) }
      })

      return Incidents.of({
        list: Effect.fn("Incidents.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          const rows = yield* repo.list(workspaceId, query, page)
          return { ...toPage(rows, page, toIncident), retention_days }
        }),

        get,

        acknowledge: Effect.fn("Incidents.acknowledge")(function* (workspaceId, id, principal) {
          yield* repo.updateAcknowledged(workspaceId, id, principalId(principal), yield* now)
          return yield* get(workspaceId, id)
        }, transactionOf(sql))
      })
    })
  )
}

const found = orNotFound("incident")
