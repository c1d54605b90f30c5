import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { NotFound, QuotaExceeded } from "@scheduling/domain/shared/Errors"
import type { RunOn } from "@scheduling/domain/workers/RunOn"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { StoreClock, transactionOf } from "../store/index.ts"
import { settleApproval, type ApprovalDecision } from "./chains/settleApproval.ts"
import { cancelRun, type StopResult } from "./transitions/cancel.ts"
import { fireAfterTime, withdrawDelayed, withdrawSlots } from "./transitions/withdraw.ts"
import { EndSignals, Signals } from "../events/index.ts"
import type { Limits } from "../plans/index.ts"
import { makeAddRuns, type ManualRun } from "./makeAddRuns.ts"
import { moveToWorker, moveToFlow, moveToQueue, type NewFlow } from "./transitions/move.ts"
import type { RerunRequest } from "./transitions/rerun.ts"
import type { QueuedRun, TaskOfRun } from "./Run.ts"
import { makeAfterSettled } from "./afterSettled.ts"
import { clearStoppedRuns, type Stop, stopTask, stopWorkspace } from "./transitions/stop.ts"

/**
 * The interface to the queue of runs for all services that define tasks. No other code of these
 * services changes the queue. Each method writes in the open transaction, if there is one, so that
 * a task and its runs change together. Signals are sent after the commit. Failures of the database
 * are defects. Update the task's row first, because its lock prevents the task from firing during
 * the change.
 *
 * `RunState.ts` describes the life of a run, and `transitions/` has the functions that change it.
 */
export class RunQueue extends Context.Service<
  RunQueue,
  {
    /**
     * Adds a run that is due now, regardless of the status of its task and of other runs of the
     * task.
     */
    readonly enqueue: (run: ManualRun) => Effect.Effect<QueuedRun, NotFound | QuotaExceeded>

    /**
     * Does the same as `enqueue` with one statement, which also locks the task. Returns null if the
     * statement cannot tell whether the task exists and may have another run. In that case, call
     * `enqueue`.
     */
    readonly enqueueInOneStatement: (
      run: ManualRun
    ) => Effect.Effect<QueuedRun | null, QuotaExceeded>

    /**
     * Adds a run for each of these finished runs, regardless of the status of its task and of other
     * runs of the task. Skips runs whose task was deleted.
     */
    readonly rerun: (
      workspaceId: AuthorizedWorkspaceId,
      ended: ReadonlyArray<RerunRequest>
    ) => Effect.Effect<ReadonlyArray<QueuedRun>, NotFound | QuotaExceeded>

    /**
     * Adds a run for each of these past times, in order, regardless of the status of the task. The
     * row of the task must be locked.
     */
    readonly backfill: (
      workspaceId: AuthorizedWorkspaceId,
      taskId: string,
      times: ReadonlyArray<Date>
    ) => Effect.Effect<void, NotFound | QuotaExceeded>

    /**
     * Adds the run of a delayed task and, if `insertion` is given, the task and its audit `event`,
     * all in one statement. A time in the past means now.
     */
    readonly schedule: (
      task: TaskOfRun & {
        readonly run_at: Date
        readonly insertion?: Statement.Fragment
        readonly event?: Statement.Fragment | undefined
      }
    ) => Effect.Effect<QueuedRun, SqlError.SqlError>

    /**
     * Changes the time of a delayed task's run that has not started. The trigger is `schedule` for
     * another time and `manual` for "run it now". Returns null and changes nothing if the run has
     * started, has finished or was withdrawn.
     */
    readonly reschedule: (
      task: TaskOfRun & {
        readonly run_at: Date
        readonly trigger: "schedule" | "manual"
        readonly input?: ManualRun["input"]
        readonly priority?: ManualRun["priority"]
      }
    ) => Effect.Effect<QueuedRun | null>

    /**
     * Removes the run of a delayed task without a trace. Returns false if the run has started or
     * finished.
     */
    readonly withdraw: (task: TaskOfRun) => Effect.Effect<boolean>

    /**
     * Removes the runs of future slots, which were added ahead of time. Returns the time after
     * which the schedule fires next. Call it before the schedule of a task changes or resumes.
     */
    readonly withdrawSlots: (task: TaskOfRun) => Effect.Effect<Date>

    /**
     * Stops all runs of a paused or deleted task. Queued runs are recorded as cancelled, except
     * runs of future slots, which leave no trace. Nodes abort running calls. The request itself
     * stops a few hundred runs; the rest are stopped after the request.
     */
    readonly stop: (task: TaskOfRun) => Effect.Effect<void>

    /**
     * Cancels one execution. `cancelled` means that it was queued and is now recorded as cancelled.
     * `requested` means that it is running and its node aborts the call within milliseconds. Null
     * means that there is no such unfinished execution.
     */
    readonly cancel: (
      workspaceId: AuthorizedWorkspaceId,
      executionId: string
    ) => Effect.Effect<"cancelled" | "requested" | null>

    /**
     * Approves or rejects a step that waits for approval. Returns false if it no longer waits.
     */
    readonly decide: (
      workspaceId: AuthorizedWorkspaceId,
      executionId: string,
      decision: ApprovalDecision
    ) => Effect.Effect<boolean>

    /**
     * Stops all runs of a workspace that is being deleted and aborts its calls. Its queue and its
     * history may be long, so they are deleted after the request. Its tasks are deleted by foreign
     * key.
     */
    readonly removeWorkspace: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<void>

    /**
     * Stops a workspace: after the commit, none of its runs starts on any node, and its schedules
     * do not fire. Running calls finish. Returns false if it was stopped already.
     */
    readonly stopWorkspace: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<boolean>

    /** Resumes a stopped workspace. Returns false if it was not stopped. */
    readonly resumeWorkspace: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<boolean>

    /**
     * Moves the queued runs of a task, including those that wait for another attempt, to the given
     * worker, or to the nodes if `run_on` is null. Call it after the task's `run_on` has changed.
     */
    readonly move: (
      task: TaskOfRun,
      place: { readonly run_on: RunOn | null; readonly worker_wait_seconds: number }
    ) => Effect.Effect<void>

    /**
     * Moves the task's runs that have not started to another queue, or to none. Runs that have
     * started use the new queue from their next attempt or step.
     */
    readonly moveToQueue: (task: TaskOfRun, queueId: string | null) => Effect.Effect<void>

    /** Does the same as `moveToQueue` for the task's new flow. */
    readonly moveToFlow: (task: TaskOfRun, flow: NewFlow) => Effect.Effect<void>

    /**
     * Admits parked runs of a named queue. Call it after the queue has changed, because more of its
     * runs may start now.
     */
    readonly admit: (workspaceId: AuthorizedWorkspaceId, queueId: string) => Effect.Effect<void>

    /**
     * Wakes the nodes if the task is due so soon that their next poll may be too late. Call it
     * after the next fire time of a task was set.
     */
    readonly wake: (dueAt: Date) => Effect.Effect<void>
  }
>()("@scheduling/server/engine/RunQueue") {
  static readonly layer: Layer.Layer<
    RunQueue,
    never,
    SqlClient.SqlClient | Signals | EndSignals | Limits
  > = Layer.effect(
    RunQueue,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const signals = yield* Signals
      const endSignals = yield* EndSignals
      const afterSettled = yield* makeAfterSettled
      const storeClock = yield* StoreClock
      const { insert, ...adds } = yield* makeAddRuns

      const sendEndsAfterCommit = (ids: ReadonlyArray<string>) =>
        ids.length === 0 ? Effect.void : sql.afterCommit(Effect.sync(() => endSignals.send(ids)))

      const withdraw = Effect.fnUntraced(function* (task: TaskOfRun) {
        const withdrawn = yield* withdrawDelayed(sql, task)
        yield* sendEndsAfterCommit(withdrawn)
        return withdrawn.length > 0
      })

      const withdrawToCome = Effect.fnUntraced(function* (task: TaskOfRun) {
        const slots = yield* withdrawSlots(sql, task)
        yield* sendEndsAfterCommit(slots.withdrawn)
        return slots
      })

      const afterStopped = Effect.fnUntraced(function* ({
        requested,
        settled,
        settlements
      }: StopResult) {
        yield* sql.afterCommit(afterSettled(settlements, settled))
        if (requested.length > 0) yield* sql.afterCommit(signals.cancel(requested))
      })

      /** Stops the first batch of the runs. The runner stops the other runs after the request. */
      const stopAll = Effect.fnUntraced(function* (stop: Stop) {
        yield* afterStopped(yield* clearStoppedRuns(sql, stop))
        yield* sql.afterCommit(signals.stop)
      })

      return RunQueue.of({
        ...adds,

        reschedule: Effect.fn("RunQueue.reschedule")(
          function* (task) {
            const withdrawn = yield* withdraw(task)
            return withdrawn ? yield* insert({ ...task, kind: "delayed" }) : null
          },
          sql.withTransaction,
          Effect.orDie
        ),

        withdraw: Effect.fn("RunQueue.withdraw")(function* (task) {
          return yield* withdraw(task)
        }, Effect.orDie),

        withdrawSlots: Effect.fn("RunQueue.withdrawSlots")(function* (task) {
          return fireAfterTime(yield* withdrawToCome(task), yield* storeClock(sql))
        }, Effect.orDie),

        stop: Effect.fn("RunQueue.stop")(
          function* (task) {
            yield* withdrawToCome(task)
            yield* stopAll(yield* stopTask(sql, task))
          },
          sql.withTransaction,
          Effect.orDie
        ),

        cancel: Effect.fn("RunQueue.cancel")(
          function* (workspaceId, executionId) {
            const stopped = yield* cancelRun(sql, workspaceId, executionId)
            yield* afterStopped(stopped)
            if (stopped.requested.length > 0) return "requested"
            return stopped.settled.finished.length === 0 ? null : "cancelled"
          },
          transactionOf(sql),
          Effect.orDie
        ),

        decide: Effect.fn("RunQueue.decide")(
          function* (workspaceId, executionId, decision) {
            const decided = yield* settleApproval(sql, workspaceId, executionId, decision)
            if (decided === null) return false
            yield* sql.afterCommit(afterSettled(decided.settlements, decided.settled))
            return true
          },
          transactionOf(sql),
          Effect.orDie
        ),

        removeWorkspace: Effect.fn("RunQueue.removeWorkspace")(
          function* (workspaceId) {
            yield* stopAll(yield* stopWorkspace(sql, workspaceId))
            yield* sql`
              INSERT INTO removed_workspaces (id)
              VALUES (${workspaceId})
              ON CONFLICT DO NOTHING`
            yield* sendEndsAfterCommit([workspaceId])
          },
          sql.withTransaction,
          Effect.orDie
        ),

        stopWorkspace: Effect.fn("RunQueue.stopWorkspace")(function* (workspaceId) {
          const stopped = yield* sql`
            INSERT INTO stopped_workspaces (workspace_id, stopped_at)
            VALUES (${workspaceId}, now())
            ON CONFLICT DO NOTHING
            RETURNING workspace_id`
          return stopped.length > 0
        }, Effect.orDie),

        resumeWorkspace: Effect.fn("RunQueue.resumeWorkspace")(function* (workspaceId) {
          const resumed = yield* sql`
            DELETE FROM stopped_workspaces
            WHERE workspace_id = ${workspaceId}
            RETURNING workspace_id`
          if (resumed.length > 0) yield* sql.afterCommit(signals.stop)
          return resumed.length > 0
        }, Effect.orDie),

        move: Effect.fn("RunQueue.move")(function* (task, place) {
          yield* moveToWorker(sql, task, place)
          yield* sql.afterCommit(signals.wake)
        }, Effect.orDie),

        moveToQueue: Effect.fn("RunQueue.moveToQueue")(function* (task, queueId) {
          yield* moveToQueue(sql, task, queueId)
          yield* sql.afterCommit(queueId === null ? signals.wake : signals.admit([queueId]))
        }, Effect.orDie),

        moveToFlow: Effect.fn("RunQueue.moveToFlow")(function* (task, flow) {
          const queues = yield* moveToFlow(sql, task, flow)
          yield* sql.afterCommit(signals.admit(queues))
        }, Effect.orDie),

        admit: Effect.fn("RunQueue.admit")(function* (_workspaceId, queueId) {
          yield* sql.afterCommit(signals.admit([queueId]))
        })
      })
    })
  )
}
