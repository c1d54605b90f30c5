import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type DelayedTask,
  type DelayedTaskDefinition,
  delayedTaskDefaults,
  type DelayedTaskInput,
  type DelayedTaskStatus,
  type DelayedTaskUpdate
} from "@scheduling/domain/delayed/DelayedTask"
import type { Execution } from "@scheduling/domain/executions/Execution"
import {
  Conflict,
  type NotFound,
  type QuotaExceeded,
  type ValidationFailed
} from "@scheduling/domain/shared/Errors"
import type { DelayedTaskId, ExecutionId } from "@scheduling/domain/shared/Ids"
import type { Page } from "@scheduling/domain/shared/requests/Page"
import { Context, DateTime, Effect, Layer, Option, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { Executions } from "../executions/Executions.ts"
import type { Limits } from "../../plans/index.ts"
import {
  againIfOvertaken,
  type Ids,
  isDefinedAs,
  orNotFound,
  stillUnder,
  type Upserted
} from "../../core/index.ts"
import { pageRequest, StoreClock, toPage, transactionOf } from "../../store/index.ts"
import { RunQueue } from "../../engine/index.ts"
import { checkTimeout, withCallOptions } from "../callOptions.ts"
import { callbackTargets, withEndingOptions } from "../endingOptions.ts"
import type { TaskQuery } from "../listing.ts"
import { queueCheck } from "../queueCheck.ts"
import { targetCheck } from "@scheduling/calls/egress/targetCheck"
import { type DelayedTaskRow, DelayedTasksRepo, toDelayedTask } from "./DelayedTasksRepo.ts"
import { making } from "./making.ts"
import { dueFields, isDueAs, isPending, runAtOf } from "./runAt.ts"

type DelayedTaskQuery = TaskQuery<DelayedTaskStatus>

/**
 * Delays begin and runs are due by the clock of the store. A task shows as pending until the node's
 * own clock reaches that time. If the clocks differ, the queue has the last word: it refuses to
 * move or withdraw a run that has started.
 */
export class DelayedTasks extends Context.Service<
  DelayedTasks,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: DelayedTaskQuery
    ) => Effect.Effect<Page<DelayedTask>>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: DelayedTaskId
    ) => Effect.Effect<DelayedTask, NotFound>
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: DelayedTaskInput
    ) => Effect.Effect<DelayedTask, NotFound | Conflict | ValidationFailed | QuotaExceeded>
    /**
     * Gives the pending task with the key this definition, or makes one. Changes nothing if it is
     * already defined so, even if it has run.
     */
    readonly upsert: (
      workspaceId: AuthorizedWorkspaceId,
      key: string,
      definition: DelayedTaskDefinition
    ) => Effect.Effect<
      Upserted<DelayedTask>,
      NotFound | Conflict | ValidationFailed | QuotaExceeded
    >
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      id: DelayedTaskId,
      changes: DelayedTaskUpdate
    ) => Effect.Effect<DelayedTask, ValidationFailed | NotFound | Conflict>
    /** The task stays on record as cancelled. */
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: DelayedTaskId
    ) => Effect.Effect<void, NotFound | Conflict>
    readonly run: (
      workspaceId: AuthorizedWorkspaceId,
      id: DelayedTaskId
    ) => Effect.Effect<Execution, NotFound | Conflict | QuotaExceeded>
    readonly cancel: (
      workspaceId: AuthorizedWorkspaceId,
      id: DelayedTaskId,
      executionId: ExecutionId
    ) => Effect.Effect<Execution, NotFound | Conflict>
  }
>()("@scheduling/server/tasks/delayed/DelayedTasks") {
  static readonly layer: Layer.Layer<
    DelayedTasks,
    never,
    DelayedTasksRepo | Executions | Ids | Limits | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    DelayedTasks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const storeNow = Effect.orDie((yield* StoreClock)(sql))
      const executions = yield* Executions
      const queue = yield* RunQueue
      const repo = yield* DelayedTasksRepo
      const checkTargets = yield* targetCheck
      const checkQueue = yield* queueCheck

      const get = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        id: DelayedTaskId
      ) {
        return toDelayedTask(yield* found(repo.find(workspaceId, id)))
      })

      /** Fails if the run has started, and so rolls the whole change back. */
      const move = (run: Parameters<RunQueue["Service"]["reschedule"]>[0]) =>
        Effect.flatMap(queue.reschedule(run), (moved) =>
          moved === null ? notPending : Effect.succeed(moved)
        )

      const { allow, dueOf, insert, make } = yield* making

      const change = Effect.fnUntraced(function* (
        task: DelayedTaskRow,
        changes: DelayedTaskUpdate
      ) {
        const { id, workspace_id } = task
        const now = yield* storeNow
        const moved = yield* runAtOf(changes, now)
        if (!isPending(task, now)) return yield* notPending
        if (changes.url !== undefined || changes.run_on === null) {
          yield* checkTargets([{ ...task, ...changes, path: ["url"] }])
        }
        yield* checkTargets(callbackTargets(changes))
        if (changes.key !== undefined && changes.key !== task.key) {
          yield* repo.giveKey(task, changes.key)
        }
        if (Object.keys(changes).length > 0) {
          const run_at = moved ?? task.run_at
          const changed = {
            ...task,
            ...withEndingOptions(withCallOptions(Struct.omit(changes, dueFields), task), task),
            run_at,
            updated_at: now
          }
          yield* checkTimeout(changed)
          yield* repo.update(changed)
          // Even if the time stays the same, because a run that has just started would not see the
          // change.
          yield* move({ workspace_id, task_id: id, run_at, trigger: "schedule" })
        }
        return yield* get(workspace_id, id)
      })

      return DelayedTasks.of({
        list: Effect.fn("DelayedTasks.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          const now = yield* DateTime.nowAsDate
          return toPage(yield* repo.list(workspaceId, { ...query, page, now }), page, toDelayedTask)
        }),

        get,

        create: Effect.fn("DelayedTasks.create")(make),

        upsert: Effect.fn("DelayedTasks.upsert")(
          function* (workspaceId, key, definition) {
            const known = yield* repo.findByKey(workspaceId, key)
            if (Option.isSome(known)) {
              const { value: task } = known
              if (task.status !== "cancelled" && isDueAs(task, definition)) {
                const fields = Struct.omit(definition, dueFields)
                const defined = withEndingOptions(
                  withCallOptions({ ...delayedTaskDefaults, ...fields, key })
                )
                if (isDefinedAs(task, defined)) {
                  return { isNew: false, record: toDelayedTask(task) }
                }
              }
              if (task.status === "pending") {
                yield* checkQueue(workspaceId, definition.queue_id)
                const locked = yield* stillUnder(key)(repo.findForUpdate(workspaceId, task.id))
                const changes = { ...delayedTaskDefaults, ...definition, key }
                return { isNew: false, record: yield* change(locked, changes) }
              }
            }
            const input = { ...definition, key }
            const due = yield* dueOf(input)
            yield* allow(workspaceId, input)
            if (Option.isSome(known)) yield* repo.giveKey(known.value, null)
            return { isNew: true, record: yield* insert(workspaceId, input, due) }
          },
          transaction,
          againIfOvertaken
        ),

        update: Effect.fn("DelayedTasks.update")(function* (workspaceId, id, changes) {
          yield* checkQueue(workspaceId, changes.queue_id)
          return yield* change(yield* found(repo.findForUpdate(workspaceId, id)), changes)
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
          // The task is locked before its run, in the same order as in all other transactions.
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

const notPending = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "The task is no longer pending." }))
)

const notIdle = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "A task that is running or cancelled cannot be run." }))
)

const found = orNotFound("task")
