import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { callOptions } from "@scheduling/domain/calls/CallOptions"
import { maskedDefinitionHeaders } from "@scheduling/domain/calls/credentialHeaders"
import { Chain } from "@scheduling/domain/chains/Chain"
import type { ChainStep } from "@scheduling/domain/chains/ChainStep"
import { definitionFields } from "@scheduling/domain/definitions/definitionFields"
import type { RunOn } from "@scheduling/domain/workers/RunOn"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { RecordedDefinition } from "../../accounts/index.ts"
import {
  insertVersion,
  workerOptionsOf,
  removeReplacedVersions,
  type StoredStep
} from "../../engine/index.ts"
import { orWorkspaceNotFound } from "../../store/index.ts"
import type { OptionColumn } from "../TaskOptions.ts"
import {
  type FiringColumns,
  type PlainColumns,
  makeTaskRowMapper,
  type TaskRow
} from "../TaskRow.ts"
import { type TasksRepo, tasksRepo } from "../TasksRepo.ts"
import { ChainRunsRepo } from "./ChainRunsRepo.ts"
import { toLastChainRun } from "./chainRun.ts"

/** A row of `tasks` for a chain, with the chain's steps, which are stored in a separate table. */
export type ChainRow = Omit<PlainColumns<Chain>, "steps"> &
  TaskRow &
  FiringColumns & { readonly steps: ReadonlyArray<StoredStep> }

export type ListedChain = ChainRow & Pick<Chain, "last_run">

/** The columns of a chain that identify the current version of its steps. */
interface VersionColumns {
  readonly version_id: string
  readonly steps_bytes: number
  readonly run_on: RunOn | null
  readonly worker_wait_seconds: number
}

export class ChainsRepo extends Context.Service<
  ChainsRepo,
  /** Reads and writes chains. `update` writes everything except the steps. */
  TasksRepo<ChainRow, ListedChain> & {
    /** Returns the names of the chain's steps in order, without reading the whole steps. */
    readonly findStepNames: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<ReadonlyArray<string>>>
    /** Replaces a locked chain's steps. Runs that have started keep their steps. */
    readonly replaceSteps: (chain: ChainRow) => Effect.Effect<void>
    /**
     * Removes a removed chain's steps, except steps that unfinished runs still need. Call it after
     * stopping the chain's runs.
     */
    readonly removeSteps: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<void>
  }
>()("@scheduling/server/tasks/chains/ChainsRepo") {
  static readonly layer: Layer.Layer<ChainsRepo, never, ChainRunsRepo | SqlClient.SqlClient> =
    Layer.effect(
      ChainsRepo,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const runs = yield* ChainRunsRepo

        const withLastRuns = Effect.fnUntraced(function* (rows: ReadonlyArray<ListedChain>) {
          const workspaces = Map.groupBy(rows, ({ workspace_id }) => workspace_id)
          const latest = yield* Effect.forEach(workspaces, ([workspaceId, chains]) =>
            runs.listLatest(
              workspaceId,
              chains.map(({ id }) => id)
            )
          )
          const lastRuns = new Map(latest.flat().map((run) => [run.chain_id, toLastChainRun(run)]))
          return rows.map((row) => ({ ...row, last_run: lastRuns.get(row.id) ?? null }))
        })

        const tasks = yield* tasksRepo<ChainRow & Partial<VersionColumns>, ListedChain>({
          kind: "chain",
          columns: columns.filter((name) => name !== "steps"),
          inserted: ["version_id", "steps_bytes", "run_on", "worker_wait_seconds"],
          long: { steps },
          hasDependencies: true,
          joinsLastRun: false,
          complete: withLastRuns
        })

        const versionOf = Effect.fnUntraced(function* ({ id, steps, workspace_id }: ChainRow) {
          const { run_on, worker_wait_seconds } = workerOptionsOf(steps[0])
          const version: VersionColumns = {
            run_on,
            worker_wait_seconds,
            version_id: yield* insertVersion(sql, { workspace_id, chain_id: id, steps }),
            steps_bytes: Buffer.byteLength(JSON.stringify(steps))
          }
          return version
        })

        const retire = (workspaceId: AuthorizedWorkspaceId, chainId: string) =>
          sql`
            UPDATE chain_versions
            SET replaced_at = now()
            WHERE workspace_id = ${workspaceId}
              AND chain_id = ${chainId}
              AND replaced_at IS NULL`

        return ChainsRepo.of({
          ...tasks,

          insert: Effect.fn("ChainsRepo.insert")(function* (chain, event) {
            const version = yield* orWorkspaceNotFound(versionOf(chain))
            yield* tasks.insert({ ...chain, ...version }, event)
          }),

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

          findForUpdate: Effect.fn("ChainsRepo.findForUpdate")(function* (workspaceId, id) {
            yield* tasks.findForUpdate(workspaceId, id)
            // The steps are read by a separate statement, because a statement that waits for the
            // lock reads the steps as they were before the wait.
            return yield* tasks.find(workspaceId, id)
          }),

          replaceSteps: Effect.fn("ChainsRepo.replaceSteps")(function* (chain) {
            yield* retire(chain.workspace_id, chain.id)
            const { run_on, ...version } = yield* versionOf(chain)
            yield* sql`
              UPDATE tasks
              SET ${sql.update({ ...version, run_on: run_on && JSON.stringify(run_on) })}
              WHERE workspace_id = ${chain.workspace_id}
                AND kind = 'chain'
                AND id = ${chain.id}`
            yield* removeReplacedVersions(sql, {
              workspace_id: chain.workspace_id,
              chain_id: chain.id
            })
          }, Effect.orDie),

          remove: Effect.fn("ChainsRepo.remove")(function* (workspaceId, id) {
            const removed = yield* tasks.remove(workspaceId, id)
            yield* retire(workspaceId, id)
            return removed
          }, Effect.orDie),

          removeSteps: Effect.fn("ChainsRepo.removeSteps")(function* (workspaceId, id) {
            yield* removeReplacedVersions(sql, { workspace_id: workspaceId, chain_id: id })
          }, Effect.orDie)
        })
      })
    )
}

export const chainOptionColumns = [
  "firing_options",
  "ending_options"
] satisfies ReadonlyArray<OptionColumn>

const { columns, definition, show } = makeTaskRowMapper<
  Chain,
  Omit<ChainRow, "steps"> & Pick<Chain, "steps">
>(Chain, chainOptionColumns, definitionFields("chain"))

export const chainDefinition = (row: ChainRow): RecordedDefinition => {
  const { shown, ...defined } = definition(row)
  return { ...defined, shown: { ...shown, steps: row.steps.map(toStep) } }
}

export const toChain = (row: ListedChain): Chain =>
  show({ ...row, steps: row.steps.map(toStep) }, row.last_run)

/** Converts a stored step. `withChannelKeys` adds its channels' keys later. */
const toStep = (step: StoredStep): ChainStep => {
  if (step.kind === "approve") return { ...step, channel_keys: [] }
  if (step.kind === "wait") return step
  return { ...callOptions.unset, ...step, headers: maskedDefinitionHeaders(step.headers) }
}

const plainStep = `json_build_object(
      'kind', 'call', 'name', name, 'method', method, 'url', url, 'headers', headers, 'body', body,
      'timeout_seconds', timeout_seconds, 'retry_count', retry_count,
      'run_on', run_on, 'worker_wait_seconds', worker_wait_seconds, 'run_if', run_if
    )`

const steps = `(
  SELECT json_agg(
    CASE
      WHEN pause IS NOT NULL
      THEN (jsonb_build_object('name', name, 'run_if', run_if) || pause)::json
      WHEN call_options IS NULL THEN ${plainStep}
      ELSE (${plainStep}::jsonb || call_options)::json
    END
    ORDER BY step_index
  )
  FROM chain_steps
  WHERE chain_steps.version_id = t.version_id
)`
