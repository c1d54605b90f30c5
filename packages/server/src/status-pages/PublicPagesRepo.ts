import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { PublicMonitor } from "./PublicPage.ts"
import type { StatusPageRow } from "./StatusPagesRepo.ts"

export interface ShownMonitorRow extends Pick<PublicMonitor, "name" | "status"> {
  readonly id: string
  readonly tags: ReadonlyArray<string>
}

export interface ShownIncidentRow {
  readonly monitor_id: string
  readonly opened_at: Date
  readonly closed_at: Date | null
}

/**
 * Reads the content of status pages. Readers need no authorization, because a page and its groups
 * define what is public.
 */
export class PublicPagesRepo extends Context.Service<
  PublicPagesRepo,
  {
    readonly findPublished: (slug: string) => Effect.Effect<Option.Option<StatusPageRow>>
    readonly listMonitors: (
      workspaceId: AuthorizedWorkspaceId,
      chosen: { readonly ids: ReadonlyArray<string>; readonly tags: ReadonlyArray<string> },
      limit: number
    ) => Effect.Effect<ReadonlyArray<ShownMonitorRow>>
    readonly listIncidents: (
      workspaceId: AuthorizedWorkspaceId,
      monitorIds: ReadonlyArray<string>,
      closedSince: Date,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ShownIncidentRow>>
  }
>()("@scheduling/server/status-pages/PublicPagesRepo") {
  static readonly layer: Layer.Layer<PublicPagesRepo, never, SqlClient.SqlClient> = Layer.effect(
    PublicPagesRepo,
    Effect.map(SqlClient.SqlClient, (sql) =>
      PublicPagesRepo.of({
        findPublished: Effect.fn("PublicPagesRepo.findPublished")(function* (slug) {
          const rows = yield* sql<StatusPageRow>`
            SELECT *
            FROM status_pages
            WHERE slug = ${slug}
              AND published`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        listMonitors: Effect.fn("PublicPagesRepo.listMonitors")(function* (
          workspaceId,
          { ids, tags },
          limit
        ) {
          return yield* sql<ShownMonitorRow>`
            SELECT id, name, status, tags
            FROM monitors
            WHERE workspace_id = ${workspaceId}
              AND (id = ANY(${ids}::uuid[]) OR tags && ${tags}::text[])
            ORDER BY name, id
            LIMIT ${limit}`
        }, Effect.orDie),

        listIncidents: Effect.fn("PublicPagesRepo.listIncidents")(function* (
          workspaceId,
          monitorIds,
          closedSince,
          limit
        ) {
          return yield* sql<ShownIncidentRow>`
            SELECT monitor_id, opened_at, closed_at
            FROM incidents
            WHERE workspace_id = ${workspaceId}
              AND monitor_id = ANY(${monitorIds}::uuid[])
              AND (closed_at IS NULL OR closed_at >= ${closedSince})
            ORDER BY opened_at DESC
            LIMIT ${limit}`
        }, Effect.orDie)
      })
    )
  )
}
