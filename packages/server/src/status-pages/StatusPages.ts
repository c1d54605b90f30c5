import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type Conflict,
  type NotFound,
  type Stale,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { StatusPageId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import {
  maxStatusPages,
  type StatusPage,
  type StatusPageDefinition
} from "@scheduling/domain/status-pages/StatusPage"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  type ChangeLog,
  changesOf,
  makeNamedDefinitions,
  type RecordedDefinition
} from "../accounts/index.ts"
import { type Ids, orNotFound, type UpsertResult } from "../core/index.ts"
import { pageRequest, timestampOf, toPage, transactionOf } from "../store/index.ts"
import { type StatusPageRow, StatusPagesRepo } from "./StatusPagesRepo.ts"

/** The operations on the definitions of status pages. */
export class StatusPages extends Context.Service<
  StatusPages,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: PageQuery
    ) => Effect.Effect<Page<StatusPage>>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      slug: string
    ) => Effect.Effect<StatusPage, NotFound>
    readonly upsert: (
      workspaceId: AuthorizedWorkspaceId,
      slug: string,
      definition: StatusPageDefinition
    ) => Effect.Effect<UpsertResult<StatusPage>, Conflict | NotFound | Stale | ValidationFailed>
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      slug: string,
      version?: number
    ) => Effect.Effect<void, NotFound | Stale>
  }
>()("@scheduling/server/status-pages/StatusPages") {
  static readonly layer: Layer.Layer<
    StatusPages,
    never,
    ChangeLog | Ids | SqlClient.SqlClient | StatusPagesRepo
  > = Layer.effect(
    StatusPages,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const repo = yield* StatusPagesRepo

      /** Rejects monitors that the workspace does not have. */
      const checkMonitors = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        groups: StatusPage["groups"]
      ) {
        const asked = groups.flatMap(({ monitor_ids }) => monitor_ids)
        const known = yield* repo.findMonitors(workspaceId, asked)
        for (const [at, { monitor_ids }] of groups.entries()) {
          const index = monitor_ids.findIndex((id) => !known.has(id.toLowerCase()))
          if (index !== -1) {
            const path = ["groups", at, "monitor_ids", index]
            return yield* ValidationFailed.at(path, "invalid", "is not a monitor of this workspace")
          }
        }
      })

      const definitions = yield* makeNamedDefinitions({
        resource: "status_page",
        repo,
        changeOf: changesOf("status_page", definitionOf, ({ slug }) => ({ details: { slug } })),
        toRow: (columns, slug, defined: Defined): StatusPageRow => ({
          ...columns,
          slug,
          ...defined
        }),
        limit: {
          count: maxStatusPages,
          message: `A workspace can have at most ${maxStatusPages} status pages.`
        },
        taken: {
          field: "slug",
          message: (slug) => `The address /status/${slug} is taken. Choose another slug.`
        }
      })

      return StatusPages.of({
        list: Effect.fn("StatusPages.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          return toPage(yield* repo.list(workspaceId, page), page, toStatusPage)
        }),

        get: Effect.fn("StatusPages.get")(function* (workspaceId, slug) {
          return toStatusPage(yield* found(repo.find(workspaceId, slug)))
        }),

        upsert: Effect.fn("StatusPages.upsert")(function* (
          workspaceId,
          slug,
          { version, ...definition }
        ) {
          const defined = withDefaults(definition)
          yield* checkMonitors(workspaceId, defined.groups)
          const { isNew, row } = yield* definitions.upsert(workspaceId, slug, defined, version)
          return { isNew, record: toStatusPage(row) }
        }, transaction),

        remove: Effect.fn("StatusPages.remove")(definitions.remove, transaction)
      })
    })
  )
}

const found = orNotFound("status_page")

type Defined = Pick<StatusPageRow, "description" | "groups" | "notices" | "published" | "title">

const withDefaults = ({
  description = null,
  groups,
  notices = [],
  published = true,
  title
}: Omit<StatusPageDefinition, "version">): Defined => ({
  title,
  description,
  published,
  groups: groups.map(({ monitor_ids = [], name, tags = [] }) => ({ name, monitor_ids, tags })),
  notices: notices.map(({ until = null, ...notice }) => ({ ...notice, until }))
})

const definitionOf = (row: StatusPageRow): RecordedDefinition => {
  const { description, groups, notices, published, slug, title } = row
  const stored = { slug, title, description, published, groups, notices }
  return {
    version: row.version,
    updated_at: row.updated_at,
    updated_by: row.updated_by ?? row.created_by,
    stored,
    shown: stored
  }
}

const toStatusPage = (row: StatusPageRow): StatusPage => ({
  id: StatusPageId.make(row.id),
  slug: row.slug,
  workspace_id: row.workspace_id,
  version: row.version,
  title: row.title,
  description: row.description,
  published: row.published,
  groups: row.groups,
  notices: row.notices,
  created_by: row.created_by,
  updated_by: row.updated_by ?? row.created_by,
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})
