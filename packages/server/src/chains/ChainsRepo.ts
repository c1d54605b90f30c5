import type { Chain, ChainStep } from "@scheduling/domain/chains/Chain"
import type { TaskStatus } from "@scheduling/domain/cron/Firing"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { PageRequest, PageRow } from "../platform/Pages.ts"
import { timestampOf, timestampOrNull } from "../platform/timestamp.ts"
import { havingName } from "../tasks/havingName.ts"
import { intoWorkspace } from "../tasks/intoWorkspace.ts"
import { pageBytes, withinPage } from "../tasks/pageBytes.ts"

/** A row of `tasks` of the kind `chain`. */
export interface ChainRow extends Omit<
  Chain,
  "next_run_at" | "last_run" | "created_at" | "updated_at"
> {
  readonly steps: ReadonlyArray<ChainStep>
  readonly next_fire_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

export const toChain = (row: ChainRow, lastRun: Chain["last_run"]): Chain => ({
  id: row.id,
  workspace_id: row.workspace_id,
  name: row.name,
  steps: row.steps,
  schedule: row.schedule,
  timezone: row.timezone,
  overlap: row.overlap,
  missed: row.missed,
  dst_overlap: row.dst_overlap,
  status: row.status,
  next_run_at: timestampOrNull(row.next_fire_at),
  last_run: lastRun,
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})

export class ChainsRepo extends Context.Service<
  ChainsRepo,
  {
    readonly insert: (chain: ChainRow) => Effect.Effect<void, NotFound>
    readonly find: (workspaceId: string, id: string) => Effect.Effect<Option.Option<ChainRow>>
    /** Locks the row: no schedule fires it and no other change touches it until the commit. */
    readonly findForUpdate: (
      workspaceId: string,
      id: string
    ) => Effect.Effect<Option.Option<ChainRow>>
    readonly list: (
      workspaceId: string,
      filter: { readonly status?: TaskStatus; readonly name?: string },
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<ChainRow & PageRow>>
    /** Locks the workspace's row first: two creates at once cannot both take the last place. */
    readonly count: (workspaceId: string) => Effect.Effect<number>
    readonly update: (chain: ChainRow) => Effect.Effect<void>
    readonly remove: (workspaceId: string, id: string) => Effect.Effect<boolean>
  }
>()("@scheduling/server/chains/ChainsRepo") {
  static readonly layer: Layer.Layer<ChainsRepo, never, SqlClient.SqlClient> = Layer.effect(
    ChainsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(columnNames.join(", "))

      return ChainsRepo.of({
        insert: Effect.fn("ChainsRepo.insert")(function* (chain) {
          yield* sql`
            INSERT INTO tasks
            ${sql.insert({ ...chain, kind: "chain", steps: JSON.stringify(chain.steps) })}`
        }, intoWorkspace),

        find: Effect.fn("ChainsRepo.find")(function* (workspaceId, id) {
          const rows = yield* sql<ChainRow>`
            SELECT ${columns}
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = 'chain'
              AND id = ${id}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        findForUpdate: Effect.fn("ChainsRepo.findForUpdate")(function* (workspaceId, id) {
          const rows = yield* sql<ChainRow>`
            SELECT ${columns}
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = 'chain'
              AND id = ${id}
            FOR UPDATE`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        list: Effect.fn("ChainsRepo.list")(function* (workspaceId, { name, status }, page) {
          return yield* sql<ChainRow & PageRow>`
            SELECT t.*
            FROM (
              SELECT ${columns}, ${pageBytes(sql)}
              FROM tasks AS t
              WHERE workspace_id = ${workspaceId}
                AND kind = 'chain'
                AND id < ${page.before}
                ${status === undefined ? sql.literal("") : sql`AND status = ${status}`}
                ${havingName(sql, name)}
              ORDER BY id DESC
              LIMIT ${page.limit + 1}
            ) AS t
            WHERE ${withinPage(sql)}
            ORDER BY id DESC`
        }, Effect.orDie),

        count: Effect.fn("ChainsRepo.count")(function* (workspaceId) {
          yield* sql`
            SELECT id
            FROM workspaces
            WHERE id = ${workspaceId}
            FOR NO KEY UPDATE`
          const [row] = yield* sql<{ readonly chains: number }>`
            SELECT count(*)::int AS chains
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = 'chain'`
          return row?.chains ?? 0
        }, Effect.orDie),

        update: Effect.fn("ChainsRepo.update")(function* ({ id, workspace_id, ...chain }) {
          yield* sql`
            UPDATE tasks
            SET ${sql.update({ ...chain, steps: JSON.stringify(chain.steps) })}
            WHERE workspace_id = ${workspace_id}
              AND kind = 'chain'
              AND id = ${id}`
        }, Effect.orDie),

        remove: Effect.fn("ChainsRepo.remove")(function* (workspaceId, id) {
          const removed = yield* sql`
            DELETE FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = 'chain'
              AND id = ${id}
            RETURNING id`
          return removed.length > 0
        }, Effect.orDie)
      })
    })
  )
}

const columnNames = [
  "id",
  "workspace_id",
  "name",
  "steps",
  "schedule",
  "timezone",
  "overlap",
  "missed",
  "dst_overlap",
  "status",
  "next_fire_at",
  "created_at",
  "updated_at"
] satisfies ReadonlyArray<keyof ChainRow>
