import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { StatusPage } from "@scheduling/domain/status-pages/StatusPage"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { DefinitionColumns } from "../accounts/index.ts"
import { orWorkspaceNotFound, type PageRequest } from "../store/index.ts"
import type { NotFound } from "@scheduling/domain/shared/Errors"

export interface StatusPageRow extends DefinitionColumns {
  readonly slug: string
  readonly title: string
  readonly description: string | null
  readonly published: boolean
  /** Null if the page needs no password. */
  readonly sealed_password: string | null
  readonly groups: ReadonlyArray<Omit<StatusPage["groups"][number], "monitor_keys">>
  readonly notices: StatusPage["notices"]
}

export class StatusPagesRepo extends Context.Service<
  StatusPagesRepo,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<StatusPageRow>>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      slug: string
    ) => Effect.Effect<Option.Option<StatusPageRow>>
    readonly findForUpdate: (
      workspaceId: AuthorizedWorkspaceId,
      slug: string
    ) => Effect.Effect<Option.Option<StatusPageRow>>
    readonly count: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<number>
    /** Inserts the page. Returns false if the slug is taken. */
    readonly insert: (page: StatusPageRow) => Effect.Effect<boolean, NotFound>
    readonly update: (page: StatusPageRow) => Effect.Effect<void>
    readonly remove: (workspaceId: AuthorizedWorkspaceId, slug: string) => Effect.Effect<void>
  }
>()("@scheduling/server/status-pages/StatusPagesRepo") {
  static readonly layer: Layer.Layer<StatusPagesRepo, never, SqlClient.SqlClient> = Layer.effect(
    StatusPagesRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const columns = sql.literal(
        "id, workspace_id, slug, version, title, description, published, sealed_password, groups, " +
          "notices, created_by, updated_by, created_at, updated_at"
      )

      const find = Effect.fn("StatusPagesRepo.find")(function* (
        workspaceId: AuthorizedWorkspaceId,
        slug: string,
        lock: Statement.Fragment
      ) {
        const rows = yield* sql<StatusPageRow>`
          SELECT ${columns}
          FROM status_pages
          WHERE workspace_id = ${workspaceId}
            AND slug = ${slug}
          ${lock}`
        return Option.fromNullishOr(rows[0])
      }, Effect.orDie)

      return StatusPagesRepo.of({
        list: Effect.fn("StatusPagesRepo.list")(function* (workspaceId, page) {
          return yield* sql<StatusPageRow>`
            SELECT ${columns}
            FROM status_pages
            WHERE workspace_id = ${workspaceId}
              AND id < ${page.before}
            ORDER BY id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        find: (workspaceId, slug) => find(workspaceId, slug, sql``),

        findForUpdate: (workspaceId, slug) => find(workspaceId, slug, sql`FOR UPDATE`),

        count: Effect.fn("StatusPagesRepo.count")(function* (workspaceId) {
          const rows = yield* sql<{ readonly count: number }>`
            SELECT count(*)::int4 AS count
            FROM status_pages
            WHERE workspace_id = ${workspaceId}`
          return rows[0]?.count ?? 0
        }, Effect.orDie),

        insert: Effect.fn("StatusPagesRepo.insert")(function* (page) {
          const rows = yield* sql`
            INSERT INTO status_pages (
              id, workspace_id, slug, version, title, description, published, sealed_password,
              groups, notices, created_by, created_at, updated_at
            )
            VALUES (
              ${page.id}, ${page.workspace_id}, ${page.slug}, ${page.version}, ${page.title},
              ${page.description}, ${page.published}, ${page.sealed_password},
              ${JSON.stringify(page.groups)}::jsonb,
              ${JSON.stringify(page.notices)}::jsonb, ${JSON.stringify(page.created_by)}::jsonb,
              ${page.created_at}, ${page.updated_at}
            )
            ON CONFLICT (slug) DO NOTHING
            RETURNING id`
          return rows.length > 0
        }, orWorkspaceNotFound),

        update: Effect.fn("StatusPagesRepo.update")(function* (page) {
          yield* sql`
            UPDATE status_pages
            SET
              version = ${page.version},
              title = ${page.title},
              description = ${page.description},
              published = ${page.published},
              sealed_password = ${page.sealed_password},
              groups = ${JSON.stringify(page.groups)}::jsonb,
              notices = ${JSON.stringify(page.notices)}::jsonb,
              updated_by = ${JSON.stringify(page.updated_by)}::jsonb,
              updated_at = ${page.updated_at}
            WHERE workspace_id = ${page.workspace_id}
              AND id = ${page.id}`
        }, Effect.orDie),

        remove: Effect.fn("StatusPagesRepo.remove")(function* (workspaceId, slug) {
          yield* sql`
            DELETE FROM status_pages
            WHERE workspace_id = ${workspaceId}
              AND slug = ${slug}`
        }, Effect.orDie)
      })
    })
  )
}
