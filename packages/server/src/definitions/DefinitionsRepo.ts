import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { type ListedKind, sectionOfKind } from "@scheduling/domain/definitions/DefinitionsDocument"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"

/** A record with a key. */
export interface KeyedRow {
  readonly kind: ListedKind
  readonly id: string
  readonly key: string
  readonly owner: string | null
}

const kindCount = Object.keys(sectionOfKind).length

const tableOf = {
  queue: "queues",
  notification_channel: "notification_channels",
  cron: "tasks",
  delayed: "tasks",
  chain: "tasks",
  escalation_policy: "escalation_policies",
  maintenance_window: "maintenance_windows",
  status_page: "status_pages"
} as const

/** Returns the table of a kind. All kinds of monitors share one table. */
const ownerTable = (kind: ListedKind): string =>
  Object.hasOwn(tableOf, kind) ? tableOf[kind as keyof typeof tableOf] : "monitors"

export class DefinitionsRepo extends Context.Service<DefinitionsRepo>()(
  "@scheduling/server/definitions/DefinitionsRepo",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      /**
       * Lists records that have keys. Finished delayed tasks are omitted, because they are history.
       */
      const listWhere = Effect.fn("DefinitionsRepo.listWhere")(function* (
        workspaceId: AuthorizedWorkspaceId,
        condition: Statement.Fragment,
        limit: number
      ) {
        return yield* sql<KeyedRow>`
          SELECT kind, id, key, owner
          FROM tasks
          WHERE workspace_id = ${workspaceId}
            AND (kind <> 'delayed' OR status = 'pending')
            AND ${condition}
          UNION ALL
          SELECT kind, id, key, owner
          FROM monitors
          WHERE workspace_id = ${workspaceId}
            AND ${condition}
          UNION ALL
          SELECT 'queue', id, key, owner
          FROM queues
          WHERE workspace_id = ${workspaceId}
            AND ${condition}
          UNION ALL
          SELECT 'notification_channel', id, key, owner
          FROM notification_channels
          WHERE workspace_id = ${workspaceId}
            AND ${condition}
          UNION ALL
          SELECT 'escalation_policy', id, key, owner
          FROM escalation_policies
          WHERE workspace_id = ${workspaceId}
            AND ${condition}
          UNION ALL
          SELECT 'maintenance_window', id, key, owner
          FROM maintenance_windows
          WHERE workspace_id = ${workspaceId}
            AND ${condition}
          UNION ALL
          SELECT 'status_page', id, key, owner
          FROM (
            SELECT workspace_id, id, slug AS key, owner
            FROM status_pages
          ) AS pages
          WHERE workspace_id = ${workspaceId}
            AND ${condition}
          LIMIT ${limit}`
      }, Effect.orDie)

      return {
        listByKeys: (workspaceId: AuthorizedWorkspaceId, keys: ReadonlyArray<string>) =>
          // Keys are unique within a kind, so each key can match one record of each kind.
          listWhere(workspaceId, sql`key = ANY (${keys}::text[])`, kindCount * keys.length),

        listByOwner: (workspaceId: AuthorizedWorkspaceId, owner: string, limit: number) =>
          listWhere(workspaceId, sql`owner = ${owner} AND key IS NOT NULL`, limit),

        list: (workspaceId: AuthorizedWorkspaceId, limit: number) =>
          listWhere(workspaceId, sql`key IS NOT NULL`, limit),

        countWithoutKey: Effect.fn("DefinitionsRepo.countWithoutKey")(function* (
          workspaceId: AuthorizedWorkspaceId,
          limit: number
        ) {
          const rows = yield* listWhere(workspaceId, sql`key IS NULL`, limit)
          return rows.length
        }),

        /**
         * Sets the records' owner. Their versions stay the same, because their definitions do not
         * change.
         */
        updateOwner: Effect.fn("DefinitionsRepo.updateOwner")(function* (
          workspaceId: AuthorizedWorkspaceId,
          records: ReadonlyArray<Pick<KeyedRow, "id" | "kind">>,
          owner: string
        ) {
          const tables = Map.groupBy(records, ({ kind }) => ownerTable(kind))
          for (const [table, rows] of tables) {
            yield* sql`
              UPDATE ${sql.literal(table)}
              SET owner = ${owner}
              WHERE workspace_id = ${workspaceId}
                AND id = ANY (${rows.map(({ id }) => id)}::uuid[])`
          }
        }, Effect.orDie),

        /** Returns those of the given names that are names of the workspace's secrets. */
        findSecretNames: Effect.fn("DefinitionsRepo.findSecretNames")(function* (
          workspaceId: AuthorizedWorkspaceId,
          names: ReadonlyArray<string>
        ) {
          if (names.length === 0) return new Set<string>()
          const rows = yield* sql<{ readonly name: string }>`
            SELECT name
            FROM secrets
            WHERE workspace_id = ${workspaceId}
              AND name = ANY (${names}::text[])`
          return new Set(rows.map(({ name }) => name))
        }, Effect.orDie)
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}
