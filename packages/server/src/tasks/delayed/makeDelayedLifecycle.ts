import type {
  DelayedTaskDefinition,
  DelayedTaskStatus
} from "@scheduling/domain/delayed/DelayedTask"
import { maxDelaySeconds } from "@scheduling/domain/delayed/DelayedTask"
import { Conflict, ValidationFailed } from "@scheduling/domain/shared/Errors"
import { ExecutionId } from "@scheduling/domain/shared/Ids"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  ChangeLog,
  changesOf,
  currentAuthor,
  type RecordedDefinition
} from "../../accounts/index.ts"
import { orNotFound } from "../../core/index.ts"
import { RunQueue } from "../../engine/index.ts"
import { Limits } from "../../plans/index.ts"
import { runInSavepoint, StoreClock, transactionOf } from "../../store/index.ts"
import type { TaskLifecycle } from "../TaskLifecycle.ts"
import type { LastRunRow } from "../LastRunRepo.ts"
import { queueCheck } from "../queueCheck.ts"
import type { TaskRow } from "../TaskRow.ts"
import type { CombinedInsert, TasksRepo } from "../TasksRepo.ts"

/** The fields that say when a task runs. */
export const dueFields = ["run_at", "delay_seconds"] as const

interface Due {
  readonly run_at?: string
  readonly delay_seconds?: number
}

interface PendingRow extends TaskRow {
  readonly status: Exclude<DelayedTaskStatus, "running">
  readonly run_at: Date
}

/**
 * Creates the `TaskLifecycle` for tasks that run once. Both the beginning of a delay and the time at which
 * a run is due are determined by the database clock. A task is shown as pending until the node's
 * clock reaches its time. If the clocks differ, the queue decides: if the run has started, it
 * rejects the change or the removal.
 */
export const makeDelayedLifecycle = Effect.fnUntraced(function* <
  Row extends PendingRow,
  Listed extends TaskRow & Pick<PendingRow, "run_at">
>(
  repo: TasksRepo<Row, Listed> & CombinedInsert<Row>,
  definition: (row: Row) => RecordedDefinition,
  listed: (row: Row, status: DelayedTaskStatus, run: LastRunRow) => Listed
) {
  const sql = yield* SqlClient.SqlClient
  const transaction = transactionOf(sql)
  const alone = runInSavepoint(sql)
  const now = Effect.orDie((yield* StoreClock)(sql))
  const changeLog = yield* ChangeLog
  const limits = yield* Limits
  const queue = yield* RunQueue
  const checkQueue = yield* queueCheck

  /**
   * Moves the run to another time. Fails if the run has started, which rolls back the whole change.
   */
  const reschedule = (run: Parameters<RunQueue["Service"]["reschedule"]>[0]) =>
    Effect.flatMap(queue.reschedule(run), (moved) =>
      moved === null ? notPending : Effect.succeed(moved)
    )

  const changeOf = changesOf("delayed_task", definition)

  const lifecycle: TaskLifecycle<Row, Listed, DelayedTaskDefinition, never, Conflict> = {
    changeOf,

    beforeChange: (workspaceId, { queue_id }) => checkQueue(workspaceId, queue_id),

    // Most tasks are created with one statement and no transaction, because on a busy node every
    // further statement has to wait for the event loop.
    insert: Effect.fnUntraced(function* (workspaceId, input, rowAt) {
      const at = yield* now
      const run_at = (yield* runAtOf(input, at)) ?? at
      const row: Row = { ...rowAt(at), status: "pending", run_at }
      const inserted = changeLog.recordBy(changeOf(undefined, row), (event) =>
        repo.insertBy(row, (insertion) =>
          queue.schedule({ workspace_id: workspaceId, task_id: row.id, run_at, insertion, event })
        )
      )
      const isAllowed =
        row.queue_id === null && (yield* limits.takeOneOfMany(workspaceId, "pending_delayed_tasks"))
      const run = yield* isAllowed
        ? Effect.catchTag(alone(inserted), "SqlError", Effect.die)
        : transaction(
            limits
              .allowMoreOfMany(workspaceId, "pending_delayed_tasks")
              .pipe(Effect.andThen(checkQueue(workspaceId, row.queue_id)), Effect.andThen(inserted))
          )
      return listed(row, isPending(row, at) ? "pending" : "running", {
        last_run_id: ExecutionId.make(run.id),
        last_run_status: run.status,
        last_run_finished_at: null
      })
    }),

    moved: Effect.fnUntraced(function* (task, changes) {
      const at = yield* now
      const run_at = yield* runAtOf(changes, at)
      if (!isPending(task, at)) return yield* notPending
      return {
        run_at: run_at ?? task.run_at,
        version: task.version + 1,
        updated_at: at
      } as Partial<Row>
    }),

    update: Effect.fnUntraced(function* (_, changed) {
      const { id, run_at, workspace_id } = changed
      yield* repo.update(changed)
      // The run is rescheduled even if its time stays the same. This fails if the run has just
      // started, because it would then miss the change.
      yield* reschedule({ workspace_id, task_id: id, run_at, trigger: "schedule" })
      return changed
    }),

    setPaused: Effect.succeed,

    isDefined: (row, given) => row.status !== "cancelled" && isDueAs(row, given),

    hasFinished: ({ status }) => status !== "pending",

    /** Cancels the task. The task's row remains. */
    remove: Effect.fnUntraced(function* (task) {
      const { id, workspace_id } = task
      const at = yield* now
      if (task.status === "cancelled") return false
      if (!isPending(task, at)) return yield* notPending
      yield* repo.update({
        ...task,
        status: "cancelled",
        version: task.version + 1,
        updated_at: at
      })
      const withdrawn = yield* queue.withdraw({ workspace_id, task_id: id })
      return withdrawn || (yield* notPending)
    }),

    run: (workspaceId, id, request) =>
      transaction(
        Effect.gen(function* () {
          const task = yield* requireTask(repo.findForUpdate(workspaceId, id))
          const at = yield* now
          const ref = { workspace_id: workspaceId, task_id: id }
          if (isPending(task, at)) {
            const updated_by = (yield* currentAuthor).actor
            const version = task.version + 1
            const moved = { ...task, run_at: at, version, updated_by, updated_at: at }
            yield* repo.update(moved)
            yield* changeLog.record(changeOf(task, moved))
            return yield* reschedule({ ...ref, run_at: at, trigger: "manual", ...request })
          }
          const { status } = yield* requireTask(repo.find(workspaceId, id))
          if (status !== "finished") return yield* notIdle
          return yield* queue.enqueue({ ...ref, kind: "delayed", ...request })
        })
      )
  }
  return lifecycle
})

/**
 * Returns whether the definition's time is the task's current time. If the definition's `run_at` is
 * in the past, the task has the time of the change instead.
 */
const isDueAs = (
  task: Pick<PendingRow, "run_at" | "updated_at">,
  { run_at }: DelayedTaskDefinition
): boolean =>
  run_at !== undefined &&
  Math.max(Date.parse(run_at), task.updated_at.getTime()) === task.run_at.getTime()

/**
 * Returns the time at which the task should run, if the input contains one. A time in the past
 * means now.
 */
const runAtOf = Effect.fnUntraced(function* (due: Due, now: Date) {
  if (due.delay_seconds !== undefined) return new Date(now.getTime() + due.delay_seconds * 1000)
  if (due.run_at === undefined) return undefined
  const runAtMs = Date.parse(due.run_at)
  if (runAtMs > now.getTime() + maxDelaySeconds * 1000) {
    return yield* ValidationFailed.at(["run_at"], "out_of_range", "must be at most 365 days ahead")
  }
  return new Date(Math.max(runAtMs, now.getTime()))
})

const isPending = (task: Pick<PendingRow, "status" | "run_at">, now: Date): boolean =>
  task.status === "pending" && task.run_at > now

const notPending = Effect.suspend(() =>
  Effect.fail(
    new Conflict({
      resource: "task",
      field: "status",
      message: "The delayed task is no longer pending, so it cannot be changed or cancelled."
    })
  )
)

const notIdle = Effect.suspend(() =>
  Effect.fail(
    new Conflict({
      resource: "task",
      field: "status",
      message: "The delayed task is running or cancelled, so it cannot be run."
    })
  )
)

const requireTask = orNotFound("task")
