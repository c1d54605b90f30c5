import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { PendingApproval } from "@scheduling/domain/executions/PendingApproval"
import type { ExecutionStatus, ExecutionTrigger } from "@scheduling/domain/executions/Execution"
import { Context, Effect, Layer, Option, type Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { apiStatus } from "../../engine/index.ts"
import { awaitedColumns } from "../executions/ExecutionsRepo.ts"
import { earliestIdAt } from "../executions/idRange.ts"
import type { PageRequest } from "../../store/index.ts"

/** The execution of a step: a row of `runs` or of `executions`. */
export interface StepRow {
  readonly id: string
  readonly chain_id: string
  readonly chain_run_id: string
  readonly step_index: number
  readonly step: string | null
  readonly trigger: ExecutionTrigger
  readonly status: ExecutionStatus
  readonly scheduled_for: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly duration_ms: number | null
  readonly status_code: number | null
  readonly error: string | null
  readonly awaiting_since: Date | null
  readonly waits_until: Date | null
  readonly approval: PendingApproval | null
  /**
   * The names of all steps with which the run started. The run's row in `runs` contains them while
   * the run is unfinished.
   */
  readonly names: ReadonlyArray<string> | null
}

export interface StepRowWithResponse extends StepRow {
  /** The last attempt's response, once the step has finished. */
  readonly response_body: string | null
  /** The run's input. Only the first step has it. */
  readonly input: Schema.Json
}

/**
 * A run's steps that have a row, in order. The first step always has a row, and its id is the run's
 * id.
 */
export interface ChainRunRow<Step extends StepRow = StepRow> {
  readonly id: string
  readonly chain_id: string
  readonly steps: readonly [Step, ...ReadonlyArray<Step>]
}

export class ChainRunsRepo extends Context.Service<
  ChainRunsRepo,
  {
    /** Lists runs. `since` excludes runs that were scheduled earlier. */
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      chainId: string,
      page: PageRequest,
      since: Date | undefined
    ) => Effect.Effect<ReadonlyArray<ChainRunRow>>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      chainId: string,
      id: string,
      since: Date | undefined
    ) => Effect.Effect<Option.Option<ChainRunRow<StepRowWithResponse>>>
    /** Lists the latest run of each chain that has run. */
    readonly listLatest: (
      workspaceId: AuthorizedWorkspaceId,
      chainIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<ChainRunRow>>
  }
>()("@scheduling/server/tasks/chains/ChainRunsRepo") {
  static readonly layer: Layer.Layer<ChainRunsRepo, never, SqlClient.SqlClient> = Layer.effect(
    ChainRunsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      /** Selects the first steps of the newest runs that meet the condition, finished or not. */
      const newest = (condition: Statement.Fragment, limit: number) => sql`
        (
          SELECT id
          FROM runs
          WHERE ${condition}
            AND id = chain_run_id
          ORDER BY id DESC
          LIMIT ${limit}
        )
        UNION ALL
        (
          SELECT id
          FROM executions
          WHERE ${condition}
            AND id = chain_run_id
          ORDER BY id DESC
          LIMIT ${limit}
        )
        ORDER BY id DESC
        LIMIT ${limit}`

      /**
       * Selects runs with their steps. One statement reads everything, so that all of an unfinished
       * run's steps are read at the same time.
       */
      const runsOf = Effect.fnUntraced(function* <Step extends StepRow = StepRow>(
        workspaceId: AuthorizedWorkspaceId,
        heads: Statement.Fragment,
        { answers }: { readonly answers: boolean } = { answers: false }
      ) {
        const detailsOf = (answer: Statement.Fragment) =>
          answers
            ? sql`,
            (${answer}) AS response_body,
            CASE WHEN step_index = 0 THEN (
              SELECT input
              FROM run_inputs
              WHERE run_inputs.id = heads.id
                AND run_inputs.workspace_id = ${workspaceId}
            ) END AS input`
            : sql.literal("")
        const rows = yield* sql<Step>`
          WITH heads AS (${heads})
          SELECT
            runs.id, task_id AS chain_id, chain_run_id, step_index, step, trigger,
            ${sql.literal(apiStatus())} AS status,
            scheduled_for, started_at, NULL::timestamptz AS finished_at,
            NULL::float8 AS duration_ms, status_code, error, ${sql.literal(awaitedColumns)},
            CASE WHEN version_id IS NOT NULL THEN ARRAY(
              SELECT chain_steps.name
              FROM chain_steps
              WHERE chain_steps.version_id = runs.version_id
              ORDER BY chain_steps.step_index
            ) END AS names
            ${detailsOf(sql.literal("SELECT NULL"))}
          FROM heads
          JOIN runs ON runs.chain_run_id = heads.id
          WHERE workspace_id = ${workspaceId}
          UNION ALL
          SELECT
            executions.id, task_id, chain_run_id, step_index, step, trigger, status,
            scheduled_for, started_at, finished_at,
            duration_ms::float8, status_code, error, NULL, NULL, NULL, NULL
            ${detailsOf(sql`
              SELECT response_body
              FROM attempts
              WHERE execution_id = executions.id
                AND workspace_id = executions.workspace_id
                AND number = executions.attempts_count
            `)}
          FROM heads
          -- Later steps have later ids, so the days before the run are not read.
          JOIN executions ON executions.chain_run_id = heads.id AND executions.id >= heads.id
          WHERE workspace_id = ${workspaceId}
          ORDER BY chain_run_id DESC, step_index`
        return byRun(rows)
      })

      const scheduledSince = (since: Date | undefined) =>
        since === undefined
          ? sql.literal("")
          : sql`AND scheduled_for >= ${since} AND id >= ${earliestIdAt(since)}`

      return ChainRunsRepo.of({
        list: Effect.fn("ChainRunsRepo.list")(function* (workspaceId, chainId, page, since) {
          const condition = sql`
            workspace_id = ${workspaceId}
            AND task_id = ${chainId}
            AND id < ${page.before}
            ${scheduledSince(since)}`
          return yield* runsOf(workspaceId, newest(condition, page.limit + 1))
        }, Effect.orDie),

        find: Effect.fn("ChainRunsRepo.find")(function* (workspaceId, chainId, id, since) {
          const condition = sql`
            workspace_id = ${workspaceId}
            AND task_id = ${chainId}
            AND id = ${id}
            ${scheduledSince(since)}`
          const heads = newest(condition, 1)
          const [run] = yield* runsOf<StepRowWithResponse>(workspaceId, heads, { answers: true })
          return Option.fromUndefinedOr(run)
        }, Effect.orDie),

        listLatest: Effect.fn("ChainRunsRepo.listLatest")(function* (workspaceId, chainIds) {
          const condition = sql`
            workspace_id = ${workspaceId}
            AND task_id = wanted.chain_id`
          return yield* runsOf(
            workspaceId,
            sql`
              SELECT latest.id
              FROM unnest(${chainIds}::uuid[]) AS wanted (chain_id)
              CROSS JOIN LATERAL (${newest(condition, 1)}) AS latest`
          )
        }, Effect.orDie)
      })
    })
  )
}

const byRun = <Step extends StepRow>(
  rows: ReadonlyArray<Step>
): ReadonlyArray<ChainRunRow<Step>> => {
  const runs = new Map<string, [Step, ...Array<Step>]>()
  for (const row of rows) {
    const steps = runs.get(row.chain_run_id)
    if (steps === undefined) runs.set(row.chain_run_id, [row])
    else steps.push(row)
  }
  return [...runs.values()].map((steps) => ({
    id: steps[0].chain_run_id,
    chain_id: steps[0].chain_id,
    steps
  }))
}
