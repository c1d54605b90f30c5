import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Chain, ChainStep } from "@scheduling/domain/chains/Chain"
import type { FiringOptions } from "@scheduling/domain/cron/FiringOptions"
import type { TaskStatus } from "@scheduling/domain/cron/Firing"
import type { Callbacks } from "@scheduling/domain/calls/Callbacks"
import { type RunOn, runOn } from "@scheduling/domain/workers/RunOn"
import { Context, Effect, Layer, Option, Struct } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { intoWorkspace, type PageRow, timestampOf } from "../../store/index.ts"
import { insertVersion, removeReplaced } from "../../engine/index.ts"
import { shownFiring } from "../firingOptions.ts"
import { havingKey, havingName, type TaskListing } from "../listing.ts"
import { pageBytes, withinPage } from "../pageBytes.ts"
import { type TasksRepo, tasksRepo } from "../TasksRepo.ts"

/** A row of `tasks` of the kind `chain`. */
export interface ChainRow extends Omit<
  Chain,
  | keyof FiringOptions
  | keyof Callbacks
  | "paused_reason"
  | "workspace_id"
  | "next_run_at"
  | "last_run"
  | "created_at"
  | "updated_at"
> {
  readonly workspace_id: AuthorizedWorkspaceId
  readonly steps: ReadonlyArray<ChainStep>
  readonly firing_options: FiringOptions | null
  readonly ending_options: Callbacks | null
  readonly paused_reason: string | null
  readonly next_fire_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/**
 * A chain as `tasks` stores it. The steps are in tables of their own, and a version has all of
 * them.
 */
type StoredChain = Omit<ChainRow, "steps"> & {
  readonly version_id?: string
  readonly steps_bytes?: number
  readonly run_on?: RunOn | null
  readonly worker_wait_seconds?: number
}

export const toChain = (row: ChainRow, lastRun: Chain["last_run"]): Chain => ({
  id: row.id,
  workspace_id: row.workspace_id,
  key: row.key,
  name: row.name,
  steps: row.steps,
  schedule: row.schedule,
  queue_id: row.queue_id,
  timezone: row.timezone,
  overlap: row.overlap,
  missed: row.missed,
  dst_overlap: row.dst_overlap,
  status: row.status,
  ...shownFiring(row),
  ...row.ending_options,
  last_run: lastRun,
  created_at: timestampOf(row.created_at),
  updated_at: timestampOf(row.updated_at)
})

export class ChainsRepo extends Context.Service<
  ChainsRepo,
  /** An update changes everything except the steps. */
  Omit<TasksRepo<ChainRow>, "insertBy"> & {
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ChainRow>>
    /** The names of its steps in order. They are much less to read than the steps. */
    readonly findStepNames: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ReadonlyArray<string>>>
    readonly findByKey: (
      workspaceId: AuthorizedWorkspaceId,
      key: string
    ) => Effect.Effect<Option.Option<ChainRow>>
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      listing: TaskListing<TaskStatus>
    ) => Effect.Effect<ReadonlyArray<ChainRow & PageRow>>
    /** The row must be locked. Runs that have started keep the steps that they have. */
    readonly replaceSteps: (chain: ChainRow) => Effect.Effect<void>
    /**
     * Call it after a chain was removed and its runs were stopped. Removes its steps, except those
     * that still run.
     */
    readonly removeSteps: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<void>
  }
>()("@scheduling/server/tasks/chains/ChainsRepo") {
  static readonly layer: Layer.Layer<ChainsRepo, never, SqlClient.SqlClient> = Layer.effect(
    ChainsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(`${columnNames.join(", ")}, ${stepsColumn}`)

      const findWhere = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        condition: Statement.Fragment
      ) {
        const rows = yield* sql<ChainRow>`
          SELECT ${columns}
          FROM tasks AS t
          WHERE workspace_id = ${workspaceId}
            AND kind = 'chain'
            AND ${condition}`
        return Option.fromNullishOr(rows[0])
      }, Effect.orDie)

      const find = (workspaceId: AuthorizedWorkspaceId, id: string) =>
        findWhere(workspaceId, sql`id = ${id}`)

      const versionOf = Effect.fnUntraced(function* ({ id, steps, workspace_id }: ChainRow) {
        const { run_on, worker_wait_seconds } = steps[0] ?? runOn.defaults
        return {
          run_on,
          worker_wait_seconds,
          version_id: yield* insertVersion(sql, { workspace_id, chain_id: id, steps }),
          steps_bytes: Buffer.byteLength(JSON.stringify(steps))
        }
      })

      const retire = (workspaceId: AuthorizedWorkspaceId, chainId: string) =>
        sql`
          UPDATE chain_versions
          SET replaced_at = now()
          WHERE workspace_id = ${workspaceId}
            AND chain_id = ${chainId}
            AND replaced_at IS NULL`

      /** The rows without their steps. */
      const tasks = yield* tasksRepo<StoredChain>(sql, { kind: "chain", columns: columnNames })

      return ChainsRepo.of({
        insert: Effect.fn("ChainsRepo.insert")(function* (chain) {
          const version = yield* intoWorkspace(versionOf(chain))
          yield* tasks.insert({ ...withoutSteps(chain), ...version })
        }),

        update: (chain) => tasks.update(withoutSteps(chain)),

        giveKey: tasks.giveKey,

        find,

        findStepNames: Effect.fn("ChainsRepo.findStepNames")(function* (workspaceId, id) {
          const rows = yield* sql<{ readonly names: ReadonlyArray<string> }>`
            SELECT
              array(
                SELECT name
                FROM chain_steps
                WHERE chain_steps.version_id = t.version_id
                ORDER BY step_index
              ) AS names
            FROM tasks AS t
            WHERE workspace_id = ${workspaceId}
              AND kind = 'chain'
              AND id = ${id}`
          return Option.map(Option.fromNullishOr(rows[0]), ({ names }) => names)
        }, Effect.orDie),

        findByKey: (workspaceId, key) => findWhere(workspaceId, sql`key = ${key}`),

        findForUpdate: Effect.fn("ChainsRepo.findForUpdate")(function* (workspaceId, id) {
          yield* tasks.findForUpdate(workspaceId, id)
          // A statement of its own, because one that waits for a lock sees the steps as they were
          // before.
          return yield* find(workspaceId, id)
        }),

        list: Effect.fn("ChainsRepo.list")(function* (workspaceId, { key, name, page, status }) {
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
                ${havingKey(sql, key)}
              ORDER BY id DESC
              LIMIT ${page.limit + 1}
            ) AS t
            WHERE ${withinPage(sql)}
            ORDER BY id DESC`
        }, Effect.orDie),

        replaceSteps: Effect.fn("ChainsRepo.replaceSteps")(function* (chain) {
          yield* retire(chain.workspace_id, chain.id)
          const { run_on, ...version } = yield* versionOf(chain)
          yield* sql`
            UPDATE tasks
            SET ${sql.update({ ...version, run_on: run_on && JSON.stringify(run_on) })}
            WHERE workspace_id = ${chain.workspace_id}
              AND kind = 'chain'
              AND id = ${chain.id}`
          yield* removeReplaced(sql, { workspace_id: chain.workspace_id, chain_id: chain.id })
        }, Effect.orDie),

        remove: Effect.fn("ChainsRepo.remove")(function* (workspaceId, id) {
          const removed = yield* tasks.remove(workspaceId, id)
          yield* retire(workspaceId, id)
          return removed
        }, Effect.orDie),

        removeSteps: Effect.fn("ChainsRepo.removeSteps")(function* (workspaceId, id) {
          yield* removeReplaced(sql, { workspace_id: workspaceId, chain_id: id })
        }, Effect.orDie)
      })
    })
  )
}

const withoutSteps = (chain: ChainRow): StoredChain => Struct.omit(chain, ["steps"])

const columnNames = [
  "id",
  "workspace_id",
  "key",
  "name",
  "schedule",
  "queue_id",
  "timezone",
  "overlap",
  "missed",
  "dst_overlap",
  "firing_options",
  "ending_options",
  "paused_reason",
  "status",
  "next_fire_at",
  "created_at",
  "updated_at"
] satisfies ReadonlyArray<keyof ChainRow>

const plainStep = `json_build_object(
      'name', name, 'method', method, 'url', url, 'headers', headers, 'body', body,
      'timeout_seconds', timeout_seconds, 'retry_count', retry_count,
      'run_on', run_on, 'worker_wait_seconds', worker_wait_seconds, 'run_if', run_if
    )`

const stepsColumn = `(
  SELECT json_agg(
    CASE
      WHEN call_options IS NULL THEN ${plainStep}
      ELSE (${plainStep}::jsonb || call_options)::json
    END
    ORDER BY step_index
  )
  FROM chain_steps
  WHERE chain_steps.version_id = t.version_id
) AS steps`
