import { mask } from "@scheduling/domain/calls/credentialHeaders"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type Conflict,
  type NotFound,
  type Stale,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { type MonitorId, StatusPageId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import {
  maxStatusPages,
  type StatusPage,
  type StatusPageDefinition
} from "@scheduling/domain/status-pages/StatusPage"
import type { ValidationIssue } from "@scheduling/domain/shared/ValidationIssue"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import {
  type ChangeLog,
  changesOf,
  makeNamedDefinitions,
  type RecordedDefinition
} from "../accounts/index.ts"
import { type Ids, seal, Secrets, unsealIfKnown, type UpsertResult } from "../core/index.ts"
import { findRecordIds, keyFinder, SubjectsRepo, unknownIdIssues } from "../incidents/index.ts"
import { timestampOf, transactionOf } from "../store/index.ts"
import { type StatusPageRow, StatusPagesRepo } from "./StatusPagesRepo.ts"

/** Creates, changes, lists and deletes status pages. */
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
    ChangeLog | Ids | Secrets | SqlClient.SqlClient | StatusPagesRepo | SubjectsRepo
  > = Layer.effect(
    StatusPages,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const repo = yield* StatusPagesRepo
      const subjects = yield* SubjectsRepo
      const ring = (yield* Secrets).keys("status-page")

      /** Returns the groups with ids instead of keys. Rejects unknown monitors. */
      const withIds = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        groups: StatusPageDefinition["groups"]
      ) {
        const subjectsFound = yield* subjects.find(workspaceId, {
          ids: groups.flatMap(({ monitor_ids = [] }) => monitor_ids),
          keys: groups.flatMap(({ monitor_keys = [] }) => monitor_keys)
        })
        const monitors = subjectsFound.filter(({ subject }) => subject === "monitor")
        const issues: Array<ValidationIssue> = []
        const stored = groups.map(({ monitor_ids, monitor_keys, name, tags = [] }, index) => {
          const path = ["groups", index]
          const named = { field: "monitor", noun: "monitor", ids: monitor_ids, keys: monitor_keys }
          const selected = findRecordIds<MonitorId>(named, monitors, path)
          issues.push(...unknownIdIssues(named, monitors, path), ...selected.issues)
          return { name, monitor_ids: selected.ids, tags }
        })
        return issues.length > 0 ? yield* new ValidationFailed({ issues }) : stored
      })

      /**
       * Returns the column with the new encrypted password. Returns no column if the password is
       * absent or unchanged.
       */
      const withSealed = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        slug: string,
        password: StatusPageDefinition["password"]
      ) {
        if (password === undefined) return {}
        if (password === null) return { sealed_password: null }
        const given = Redacted.value(password)
        const known = Option.getOrNull(yield* repo.find(workspaceId, slug))?.sealed_password ?? null
        if (known !== null && unsealIfKnown(ring, workspaceId, known) === given) return {}
        return { sealed_password: seal(ring, workspaceId, given) }
      })

      const definitions = yield* makeNamedDefinitions({
        resource: "status_page",
        repo,
        changeOf: changesOf("status_page", definitionOf, ({ slug }) => ({ details: { slug } })),
        toRecords: Effect.fnUntraced(function* (workspaceId, rows) {
          const ids = rows.flatMap(({ groups }) => groups.flatMap(({ monitor_ids }) => monitor_ids))
          const keysOf = keyFinder(yield* subjects.find(workspaceId, { ids }))
          return (row: StatusPageRow) => toStatusPage(row, keysOf)
        }),
        toRow: (columns, slug, defined: Defined): StatusPageRow => ({
          ...columns,
          slug,
          sealed_password: null,
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
        list: Effect.fn("StatusPages.list")(definitions.list),

        get: Effect.fn("StatusPages.get")(definitions.get),

        upsert: Effect.fn("StatusPages.upsert")(function* (
          workspaceId,
          slug,
          { password, version, ...definition }
        ) {
          const groups = yield* withIds(workspaceId, definition.groups)
          const defined = {
            ...withDefaults({ ...definition, groups }),
            ...(yield* withSealed(workspaceId, slug, password))
          }
          return yield* definitions.upsert(workspaceId, slug, defined, version)
        }, transaction),

        remove: Effect.fn("StatusPages.remove")(definitions.remove, transaction)
      })
    })
  )
}

type Shown = Pick<StatusPageRow, "description" | "groups" | "notices" | "published" | "title">

/**
 * The columns that a definition sets. If `sealed_password` is absent, the page keeps its password.
 */
type Defined = Shown & Partial<Pick<StatusPageRow, "sealed_password">>

const withDefaults = ({
  description = null,
  groups,
  notices = [],
  published = true,
  title
}: Omit<StatusPageDefinition, "groups" | "password" | "version"> &
  Pick<Shown, "groups">): Shown => ({
  title,
  description,
  published,
  groups,
  notices: notices.map(({ until = null, updates = [], ...notice }) => ({
    ...notice,
    until,
    updates
  }))
})

const definitionOf = (row: StatusPageRow): RecordedDefinition => {
  const { description, groups, notices, published, sealed_password, slug, title } = row
  const shown = { slug, title, description, published, groups, notices }
  return {
    version: row.version,
    updated_at: row.updated_at,
    updated_by: row.updated_by ?? row.created_by,
    stored: { ...shown, password: sealed_password },
    shown: { ...shown, password: sealed_password && mask }
  }
}

const toStatusPage = (
  row: StatusPageRow,
  keysOf: (ids: ReadonlyArray<string>) => ReadonlyArray<string>
): StatusPage => ({
  id: StatusPageId.make(row.id),
  slug: row.slug,
  workspace_id: row.workspace_id,
  version: row.version,
  title: row.title,
  description: row.description,
  published: row.published,
  has_password: row.sealed_password !== null,
  groups: row.groups.map((group) => ({ ...group, monitor_keys: keysOf(group.monitor_ids) })),
  notices: row.notices,
  created_by: row.created_by,
  updated_by: row.updated_by ?? row.created_by,
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})
