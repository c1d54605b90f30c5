import {
  type Execution,
  type ExecutionDetail,
  type ExecutionFilters
} from "@scheduling/domain/executions/Execution"
import {
  type ExecutionStats,
  type StatsQuery,
  statsRange
} from "@scheduling/domain/executions/ExecutionStats"
import { Conflict, NotFound, ValidationFailed } from "@scheduling/domain/shared/Errors"
import type { ExecutionId, WorkspaceId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/Page"
import { Context, DateTime, Effect, Layer, Option, Result, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import { pageRequest, toPage } from "../platform/Pages.ts"
import { transactionOf } from "../platform/transaction.ts"
import type { QueuedRun } from "../runner/Run.ts"
import { RunQueue } from "../runner/RunQueue.ts"
import { ExecutionsRepo, toExecution, toExecutionDetail } from "./ExecutionsRepo.ts"
import { ExecutionStatsRepo } from "./ExecutionStatsRepo.ts"
import { toStats } from "./Statistics.ts"

type ExecutionsQuery = PageQuery & Schema.Struct.Type<typeof ExecutionFilters>
type ExecutionStatsQuery = Schema.Struct.Type<typeof StatsQuery>

/** What ran and what waits to run: of a workspace, or with `task_id` of one task or chain. */
export class Executions extends Context.Service<
  Executions,
  {
    readonly list: (
      workspaceId: WorkspaceId,
      query: ExecutionsQuery
    ) => Effect.Effect<Page<Execution>>
    readonly get: (
      workspaceId: WorkspaceId,
      id: ExecutionId
    ) => Effect.Effect<ExecutionDetail, NotFound>
    readonly stats: (
      workspaceId: WorkspaceId,
      query: ExecutionStatsQuery
    ) => Effect.Effect<ExecutionStats, ValidationFailed>
    /** A run that was just queued, as an execution. */
    readonly queued: (run: QueuedRun) => Execution
    /** Cancelling again changes nothing; one that has ended otherwise is a conflict. */
    readonly cancel: (execution: {
      readonly workspace_id: WorkspaceId
      readonly task_id: string
      readonly execution_id: ExecutionId
    }) => Effect.Effect<Execution, NotFound | Conflict>
  }
>()("@scheduling/server/executions/Executions") {
  static readonly layer: Layer.Layer<
    Executions,
    never,
    ExecutionsRepo | ExecutionStatsRepo | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    Executions,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const queue = yield* RunQueue
      const repo = yield* ExecutionsRepo
      const stats = yield* ExecutionStatsRepo

      return Executions.of({
        list: Effect.fn("Executions.list")(function* (workspaceId, { from, to, ...query }) {
          const page = pageRequest(query)
          const filter = { ...query, from: dateOf(from), to: dateOf(to) }
          return toPage(yield* repo.list(workspaceId, filter, page), page, toExecution)
        }),

        get: Effect.fn("Executions.get")(function* (workspaceId, id) {
          const row = yield* repo.find(workspaceId, id)
          return Option.isSome(row) ? toExecutionDetail(row.value) : yield* noSuchExecution
        }),

        stats: Effect.fn("Executions.stats")(function* (workspaceId, query) {
          const range = statsRange(query, yield* DateTime.nowAsDate)
          if (Result.isFailure(range))
            return yield* new ValidationFailed({ issues: [range.failure] })
          const filter = { ...range.success, task_id: query.task_id }
          return toStats(range.success, yield* stats.list(workspaceId, filter))
        }),

        queued: (run) =>
          toExecution({
            ...run,
            started_at: null,
            finished_at: null,
            lateness_ms: null,
            duration_ms: null,
            attempts_count: 0,
            status_code: null,
            error: null
          }),

        cancel: Effect.fn("Executions.cancel")(function* (execution) {
          const cancelled = yield* queue.cancel(execution)
          const row = Option.getOrUndefined(
            yield* repo.find(execution.workspace_id, execution.execution_id)
          )
          if (row?.task_id !== execution.task_id) return yield* noSuchExecution
          if (cancelled === null && hasEndedOtherwise.has(row.status)) {
            return yield* new Conflict({ message: `The execution has ${row.status} already.` })
          }
          return toExecution(row)
        }, transaction)
      })
    })
  )
}

const hasEndedOtherwise: ReadonlySet<Execution["status"]> = new Set([
  "succeeded",
  "failed",
  "skipped"
])

const noSuchExecution = Effect.suspend(() => Effect.fail(new NotFound({ resource: "execution" })))

const dateOf = (time: string | undefined) => (time === undefined ? undefined : new Date(time))
