import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type Execution,
  type ExecutionDetail,
  type ExecutionFilters,
  type ScheduledFilters
} from "@scheduling/domain/executions/Execution"
import {
  type ExecutionStats,
  type StatsQuery,
  statsRange
} from "@scheduling/domain/executions/ExecutionStats"
import { Conflict, NotFound, ValidationFailed } from "@scheduling/domain/shared/Errors"
import type { ExecutionId } from "@scheduling/domain/shared/Ids"
import type { CountedPage, PageQuery, TotalQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, DateTime, Effect, Layer, Option, Result, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Limits } from "../../plans/index.ts"
import { countedPage, pageRequest, toPage, transactionOf } from "../../store/index.ts"
import { type QueuedRun, RunQueue } from "../../engine/index.ts"
import { ExecutionsRepo, toExecution, toExecutionDetail } from "./ExecutionsRepo.ts"
import { earliestIdAt } from "./idRange.ts"
import { ExecutionStatsRepo } from "./ExecutionStatsRepo.ts"
import { toStats } from "./Statistics.ts"

type CountedPageQuery = PageQuery & Schema.Struct.Type<typeof TotalQuery>
export type ExecutionsQuery = CountedPageQuery & Schema.Struct.Type<typeof ExecutionFilters>
type ExecutionStatsQuery = Schema.Struct.Type<typeof StatsQuery>

/**
 * Reads and cancels a workspace's executions, including those that wait to run. If `task_id` is
 * given, only the executions of that task or chain.
 */
export class Executions extends Context.Service<
  Executions,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: ExecutionsQuery
    ) => Effect.Effect<CountedPage<Execution>>
    readonly scheduled: (
      workspaceId: AuthorizedWorkspaceId,
      query: CountedPageQuery & Schema.Struct.Type<typeof ScheduledFilters>
    ) => Effect.Effect<CountedPage<Execution>>
    /**
     * Reads an execution. The requests of its attempts are not included; `AttemptRequests` adds
     * them.
     */
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: ExecutionId
    ) => Effect.Effect<ExecutionDetail, NotFound>
    /** Reads an execution with the fields that lists show. */
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      id: ExecutionId
    ) => Effect.Effect<Execution, NotFound>
    readonly stats: (
      workspaceId: AuthorizedWorkspaceId,
      query: ExecutionStatsQuery
    ) => Effect.Effect<ExecutionStats, ValidationFailed>
    /** Converts a run that was just queued to an execution. */
    readonly queued: (run: QueuedRun) => Execution
    /**
     * Cancels an execution. If it is already cancelled, nothing changes. Fails with a conflict if
     * it has finished with another result.
     */
    readonly cancel: (
      workspaceId: AuthorizedWorkspaceId,
      id: ExecutionId
    ) => Effect.Effect<Execution, NotFound | Conflict>
  }
>()("@scheduling/server/tasks/executions/Executions") {
  static readonly layer: Layer.Layer<
    Executions,
    never,
    ExecutionsRepo | ExecutionStatsRepo | Limits | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    Executions,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const limits = yield* Limits
      const queue = yield* RunQueue
      const repo = yield* ExecutionsRepo
      const stats = yield* ExecutionStatsRepo

      return Executions.of({
        list: Effect.fn("Executions.list")(function* (workspaceId, { from, to, ...query }) {
          const page = pageRequest(query)
          const since = yield* limits.historyFrom(workspaceId)
          const now = yield* DateTime.nowAsDate
          const filter = { ...query, now, from: laterOf(dateOf(from), since), to: dateOf(to) }
          return yield* countedPage(
            query,
            Effect.map(repo.list(workspaceId, filter, page), (rows) =>
              toPage(rows, page, toExecution)
            ),
            repo.count(workspaceId, filter)
          )
        }),

        scheduled: Effect.fn("Executions.scheduled")(function* (workspaceId, query) {
          const { before: cursor, limit } = pageRequest(query)
          const now = yield* DateTime.nowAsDate
          const after = query.cursor === undefined ? earliestIdAt(now) : cursor
          const filter = { ...query, now }
          return yield* countedPage(
            query,
            Effect.map(repo.listScheduled(workspaceId, filter, { after, limit }), (rows) =>
              toPage(rows, { limit, before: cursor }, toExecution)
            ),
            repo.countScheduled(workspaceId, filter)
          )
        }),

        get: Effect.fn("Executions.get")(function* (workspaceId, id) {
          const row = Option.getOrUndefined(yield* repo.find(workspaceId, id))
          const since = yield* limits.historyFrom(workspaceId)
          if (row === undefined || (since !== undefined && row.scheduled_for < since)) {
            return yield* noSuchExecution
          }
          return toExecutionDetail(row)
        }),

        find: Effect.fn("Executions.find")(function* (workspaceId, id) {
          const row = Option.getOrUndefined(yield* repo.find(workspaceId, id))
          return row === undefined ? yield* noSuchExecution : toExecution(row)
        }),

        stats: Effect.fn("Executions.stats")(function* (workspaceId, query) {
          const range = statsRange(query, yield* DateTime.nowAsDate)
          if (Result.isFailure(range))
            return yield* new ValidationFailed({ issues: [range.failure] })
          const since = yield* limits.historyFrom(workspaceId)
          const from = laterOf(range.success.from, since) ?? range.success.from
          if (from >= range.success.to) return toStats(range.success, [])
          const filter = { ...range.success, from, task_id: query.task_id }
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
            error: null,
            awaiting_since: null,
            waits_until: null,
            approval: null
          }),

        cancel: Effect.fn("Executions.cancel")(function* (workspaceId, id) {
          const cancelled = yield* queue.cancel(workspaceId, id)
          const row = Option.getOrUndefined(yield* repo.find(workspaceId, id))
          if (row === undefined) return yield* noSuchExecution
          if (cancelled === null && hasEndedOtherwise.has(row.status)) {
            return yield* new Conflict({
              resource: "execution",
              field: "status",
              message: `The execution has already finished with the status ${row.status}.`
            })
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

const laterOf = (one: Date | undefined, other: Date | undefined) =>
  one === undefined || (other !== undefined && other > one) ? other : one

export const dateOf = (time: string | undefined) =>
  time === undefined ? undefined : new Date(time)
