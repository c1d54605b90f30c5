import {
  type DelayedTask,
  delayedTaskDefaults,
  type DelayedTaskInput,
  type DelayedTaskStatus,
  type DelayedTaskUpdate,
  maxDelaySeconds,
  maxPendingTasks
} from "@scheduling/domain/delayed/DelayedTask"
import type { Execution } from "@scheduling/domain/executions/Execution"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import { Conflict, QuotaExceeded, ValidationFailed } from "@scheduling/domain/shared/Errors"
import { DelayedTaskId, ExecutionId, type WorkspaceId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/Page"
import { Context, DateTime, Effect, Layer, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { Executions } from "../executions/Executions.ts"
import { orNotFound } from "../platform/orNotFound.ts"
import { Ids } from "../platform/Ids.ts"
import { pageRequest, toPage } from "../platform/Pages.ts"
import { Places } from "../platform/Places.ts"
import { StoreClock } from "../platform/StoreClock.ts"
import { transactionOf } from "../platform/transaction.ts"
import { RunQueue } from "../runner/RunQueue.ts"
import { targetCheck } from "../tasks/targets.ts"
import { type DelayedTaskRow, DelayedTasksRepo, toDelayedTask } from "./DelayedTasksRepo.ts"

interface DelayedTaskQuery extends PageQuery {
  readonly status?: DelayedTaskStatus
  readonly name?: string
}

/**
 * A delay begins, and a run is due, by the clock of the store. A task shows as pending until the
 * node's own clock reaches that time. Where they differ the queue has the last word: it refuses to
 * move or withdraw a run that has started.
 */
export class DelayedTasks extends Context.Service<
  DelayedTasks,
  {
    readonly list: (
      workspaceId: WorkspaceId,
      query: DelayedTaskQuery
    ) => Effect.Effect<Page<DelayedTask>>
    readonly get: (
      workspaceId: WorkspaceId,
      id: DelayedTaskId
    ) => Effect.Effect<DelayedTask, NotFound>
    readonly create: (
      workspaceId: WorkspaceId,
      input: DelayedTaskInput
    ) => Effect.Effect<DelayedTask, NotFound | ValidationFailed | QuotaExceeded>
    readonly update: (
      workspaceId: WorkspaceId,
      id: DelayedTaskId,
      changes: DelayedTaskUpdate
    ) => Effect.Effect<DelayedTask, ValidationFailed | NotFound | Conflict>
    /** The task stays on record as cancelled. */
    readonly remove: (
      workspaceId: WorkspaceId,
      id: DelayedTaskId
    ) => Effect.Effect<void, NotFound | Conflict>
    readonly run: (
      workspaceId: WorkspaceId,
      id: DelayedTaskId
    ) => Effect.Effect<Execution, NotFound | Conflict | QuotaExceeded>
    readonly cancel: (
      workspaceId: WorkspaceId,
      id: DelayedTaskId,
      executionId: ExecutionId
    ) => Effect.Effect<Execution, NotFound | Conflict>
  }
>()("@scheduling/server/delayed/DelayedTasks") {
  static readonly layer: Layer.Layer<
    DelayedTasks,
    never,
    DelayedTasksRepo | Executions | Ids | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    DelayedTasks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const storeNow = Effect.orDie((yield* StoreClock)(sql))
      const executions = yield* Executions
      const ids = yield* Ids
      const queue = yield* RunQueue
      const repo = yield* DelayedTasksRepo
      const checkTargets = yield* targetCheck

      const get = Effect.fnUntraced(function* (workspaceId: WorkspaceId, id: DelayedTaskId) {
        return toDelayedTask(yield* found(repo.find(workspaceId, id)))
      })

      /** To count 100,000 rows takes about 100 ms, and its lock would let creates through one by one. */
      const places = new Places(maxPendingTasks)
      const takePlace = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
        const count = repo.countPending(workspaceId)
        if (yield* places.take(workspaceId.toLowerCase(), count)) return
        return yield* new QuotaExceeded({ quota: "pending_delayed_tasks", limit: maxPendingTasks })
      })

      /** Fails, and so takes the whole change back, once the run has started. */
      const move = (run: Parameters<RunQueue["Service"]["reschedule"]>[0]) =>
        Effect.flatMap(queue.reschedule(run), (moved) =>
          moved === null ? notPending : Effect.succeed(moved)
        )

      return DelayedTasks.of({
        list: Effect.fn("DelayedTasks.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          const now = yield* DateTime.nowAsDate
          return toPage(yield* repo.list(workspaceId, { ...query, page, now }), page, toDelayedTask)
        }),

        get,

        create: Effect.fn("DelayedTasks.create")(function* (workspaceId, input) {
          yield* checkTargets([{ path: ["url"], url: input.url }])
          const now = yield* storeNow
          const run_at = (yield* runAtOf(input, now)) ?? now
          yield* takePlace(workspaceId)
          const row: DelayedTaskRow = {
            ...delayedTaskDefaults,
            ...Struct.omit(input, dueFields),
            id: DelayedTaskId.make(yield* ids.next),
            workspace_id: workspaceId,
            status: "pending",
            run_at,
            created_at: now,
            updated_at: now
          }
          yield* repo.insert(row)
          const run = yield* queue.schedule({ workspace_id: workspaceId, task_id: row.id, run_at })
          return toDelayedTask({
            ...row,
            status: isPending(row, now) ? "pending" : "running",
            last_run_id: ExecutionId.make(run.id),
            last_run_status: run.status,
            last_run_finished_at: null
          })
        }, transaction),

        update: Effect.fn("DelayedTasks.update")(function* (workspaceId, id, changes) {
          const task = yield* found(repo.findForUpdate(workspaceId, id))
          const now = yield* storeNow
          const moved = yield* runAtOf(changes, now)
          if (!isPending(task, now)) return yield* notPending
          if (changes.url !== undefined) yield* checkTargets([{ path: ["url"], url: changes.url }])
          if (Object.keys(changes).length > 0) {
            const run_at = moved ?? task.run_at
            yield* repo.update({
              ...task,
              ...Struct.omit(changes, dueFields),
              run_at,
              updated_at: now
            })
            // Also where the time stays: a run that has just started would not see the change.
            yield* move({ workspace_id: workspaceId, task_id: id, run_at, trigger: "schedule" })
          }
          return yield* get(workspaceId, id)
        }, transaction),

        remove: Effect.fn("DelayedTasks.remove")(function* (workspaceId, id) {
          const task = yield* found(repo.findForUpdate(workspaceId, id))
          const now = yield* storeNow
          if (task.status === "cancelled") return
          if (!isPending(task, now)) return yield* notPending
          yield* repo.update({ ...task, status: "cancelled", updated_at: now })
          const withdrawn = yield* queue.withdraw({ workspace_id: workspaceId, task_id: id })
          if (!withdrawn) return yield* notPending
        }, transaction),

        run: Effect.fn("DelayedTasks.run")(function* (workspaceId, id) {
          const task = yield* found(repo.findForUpdate(workspaceId, id))
          const now = yield* storeNow
          if (isPending(task, now)) {
            yield* repo.update({ ...task, run_at: now, updated_at: now })
            return executions.queued(
              yield* move({
                workspace_id: workspaceId,
                task_id: id,
                run_at: now,
                trigger: "manual"
              })
            )
          }
          const { status } = yield* get(workspaceId, id)
          if (status !== "finished") return yield* notIdle
          return executions.queued(
            yield* queue.enqueue({ workspace_id: workspaceId, task_id: id, kind: "delayed" })
          )
        }, transaction),

        cancel: Effect.fn("DelayedTasks.cancel")(function* (workspaceId, id, executionId) {
          // Before its run, as everybody does.
          const task = yield* found(repo.findForUpdate(workspaceId, id))
          return yield* executions.cancel({
            workspace_id: workspaceId,
            task_id: task.id,
            execution_id: executionId
          })
        }, transaction)
      })
    })
  )
}

const isPending = (task: DelayedTaskRow, now: Date): boolean =>
  task.status === "pending" && task.run_at > now

const dueFields = ["run_at", "delay_seconds"] as const

/** When the task is to run, if that is said. A time that has passed means now. */
const runAtOf = Effect.fnUntraced(function* (
  due: { readonly run_at?: string; readonly delay_seconds?: number },
  now: Date
) {
  if (due.delay_seconds !== undefined) return new Date(now.getTime() + due.delay_seconds * 1000)
  if (due.run_at === undefined) return undefined
  const runAtMs = Date.parse(due.run_at)
  if (runAtMs > now.getTime() + maxDelaySeconds * 1000) {
    return yield* new ValidationFailed({
      issues: [{ path: ["run_at"], message: "Expected a time at most 365 days ahead" }]
    })
  }
  return new Date(Math.max(runAtMs, now.getTime()))
})

const notPending = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "The task is no longer pending." }))
)

const notIdle = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "A task that is running or cancelled cannot be run." }))
)

const found = orNotFound("task")
