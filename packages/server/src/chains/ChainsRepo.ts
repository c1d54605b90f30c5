import type { Chain, ChainStep } from "@scheduling/domain/chains/Chain"
import type { TaskStatus } from "@scheduling/domain/cron/Firing"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer, Option, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { PageRequest, PageRow } from "../platform/Pages.ts"
import { timestampOf, timestampOrNull } from "../platform/timestamp.ts"
import { insertVersion, removeReplaced } from "../runner/ChainVersions.ts"
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
    /** All but the steps. */
    readonly update: (chain: ChainRow) => Effect.Effect<void>
    /** Runs that have started go on with those that they have. The row is locked. */
    readonly replaceSteps: (chain: ChainRow) => Effect.Effect<void>
    readonly remove: (workspaceId: string, id: string) => Effect.Effect<boolean>
    /** After a chain that is removed had its runs stopped: its steps, but for what still runs. */
    readonly removeSteps: (workspaceId: string, id: string) => Effect.Effect<void>
  }
>()("@scheduling/server/chains/ChainsRepo") {
  static readonly layer: Layer.Layer<ChainsRepo, never, SqlClient.SqlClient> = Layer.effect(
    ChainsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(`${columnNames.join(", ")}, ${stepsColumn}`)

      const find = Effect.fnUntraced(function* (workspaceId: string, id: string) {
        const rows = yield* sql<ChainRow>`
          SELECT ${columns}
          FROM tasks AS t
          WHERE workspace_id = ${workspaceId}
            AND kind = 'chain'
            AND id = ${id}`
        return Option.fromNullishOr(rows[0])
      })

      const versionOf = Effect.fnUntraced(function* ({ id, steps, workspace_id }: ChainRow) {
        return {
          version_id: yield* insertVersion(sql, { workspace_id, chain_id: id, steps }),
          steps_bytes: Buffer.byteLength(JSON.stringify(steps))
        }
      })

      const retire = (workspaceId: string, chainId: string) =>
        sql`
          UPDATE chain_versions
          SET replaced_at = now()
          WHERE workspace_id = ${workspaceId}
            AND chain_id = ${chainId}
            AND replaced_at IS NULL`

      return ChainsRepo.of({
        insert: Effect.fn("ChainsRepo.insert")(function* (chain) {
          const version = yield* versionOf(chain)
          yield* sql`
            INSERT INTO tasks
            ${sql.insert({ ...Struct.omit(chain, ["steps"]), ...version, kind: "chain" })}`
        }, intoWorkspace),

        find: Effect.fn("ChainsRepo.find")(function* (workspaceId, id) {
          return yield* find(workspaceId, id)
        }, Effect.orDie),

        findForUpdate: Effect.fn("ChainsRepo.findForUpdate")(function* (workspaceId, id) {
          yield* sql`
            SELECT id
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = 'chain'
              AND id = ${id}
            FOR UPDATE`
          // Apart: a statement that waits for a lock sees the steps as they were before.
          return yield* find(workspaceId, id)
        }, Effect.orDie),

        list: Effect.fn("ChainsRepo.list")(function* (workspaceId, { name, status }, page) {
          return yield* sql<ChainRow & PageRow>`
            SELECT ${columns}, page_bytes, row_bytes
            FROM (
              SELECT *, ${pageBytes(sql)}
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

        update: Effect.fn("ChainsRepo.update")(function* (chain) {
          yield* sql`
            UPDATE tasks
            SET ${sql.update(Struct.omit(chain, ["id", "workspace_id", "steps"]))}
            WHERE workspace_id = ${chain.workspace_id}
              AND kind = 'chain'
              AND id = ${chain.id}`
        }, Effect.orDie),

        replaceSteps: Effect.fn("ChainsRepo.replaceSteps")(function* (chain) {
          yield* retire(chain.workspace_id, chain.id)
          yield* sql`
            UPDATE tasks
            SET ${sql.update(yield* versionOf(chain))}
            WHERE workspace_id = ${chain.workspace_id}
              AND kind = 'chain'
              AND id = ${chain.id}`
          yield* removeReplaced(sql, { workspace_id: chain.workspace_id, chain_id: chain.id })
        }, Effect.orDie),

        remove: Effect.fn("ChainsRepo.remove")(function* (workspaceId, id) {
          const removed = yield* sql`
            DELETE FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = 'chain'
              AND id = ${id}
            RETURNING id`
          yield* retire(workspaceId, id)
          return removed.length > 0
        }, Effect.orDie),

        removeSteps: Effect.fn("ChainsRepo.removeSteps")(function* (workspaceId, id) {
          yield* removeReplaced(sql, { workspace_id: workspaceId, chain_id: id })
        }, Effect.orDie)
      })
    })
  )
}

const columnNames = [
  "id",
  "workspace_id",
  "name",
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

const stepsColumn = `(
  SELECT json_agg(
    json_build_object(
      'name', name, 'method', method, 'url', url, 'headers', headers, 'body', body,
      'timeout_seconds', timeout_seconds, 'retry_count', retry_count, 'run_if', run_if
    )
    ORDER BY step_index
  )
  FROM chain_steps
  WHERE chain_steps.version_id = t.version_id
) AS steps`
