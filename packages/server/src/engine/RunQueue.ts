import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { NotFound, QuotaExceeded } from "@scheduling/domain/shared/Errors"
import type { RunOn } from "@scheduling/domain/workers/RunOn"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { StoreClock, transactionOf } from "../store/index.ts"
import { cancelRun, type Stopped } from "./transitions/cancel.ts"
import { firesAfter, withdrawDelayed, withdrawSlots } from "./transitions/withdraw.ts"
import { EndSignals, Signals } from "../events/index.ts"
import type { Limits } from "../plans/index.ts"
import { makeAddRuns, type ManualRun } from "./makeAddRuns.ts"
import { moveRuns, moveToQueue } from "./transitions/move.ts"
import type { EndedRun } from "./transitions/rerun.ts"
import type { QueuedRun, TaskOfRun } from "./Run.ts"
import { makeAfterSettled } from "./afterSettled.ts"
import { clearSome, type Stop, stopTask, stopWorkspace } from "./transitions/stop.ts"

/**
 * The only way to the queue for the services that define tasks. Each method writes within the open
 * transaction, if there is one, so that a task and its runs change together. Signals follow the
 * commit. A lost database is a defect. Change the row of the task first: firing and these methods
 * share its lock.
 *
 * `RunState.ts` has the life of a run, and `transitions/` what changes it.
 */
export class RunQueue extends Context.Service<
  RunQueue,
  {
    /**
     * Adds one run that is due now, whatever the status of the task and whatever else of it is
     * running.
     */
    readonly enqueue: (run: ManualRun) => Effect.Effect<QueuedRun, NotFound | QuotaExceeded>

    /**
     * Does what `enqueue` does with one statement, which locks the task itself. Null if only
     * `enqueue` can find out whether there is such a task and room for its run.
     */
    readonly enqueueAtOnce: (run: ManualRun) => Effect.Effect<QueuedRun | null, QuotaExceeded>

    /**
     * Adds a run for each of these that have ended, whatever the status of its task and whatever
     * else of it is running. Leaves out those whose task is gone.
     */
    readonly rerun: (
      workspaceId: AuthorizedWorkspaceId,
      ended: ReadonlyArray<EndedRun>
    ) => Effect.Effect<ReadonlyArray<QueuedRun>, NotFound | QuotaExceeded>

    /**
     * Adds the run of a delayed task, and the task too if its `insertion` is given, with the `event`
     * that records it: one statement does all. A time in the past means now.
     */
    readonly schedule: (
      task: TaskOfRun & {
        readonly run_at: Date
        readonly insertion?: Statement.Fragment
        readonly event?: Statement.Fragment | undefined
      }
    ) => Effect.Effect<QueuedRun, SqlError.SqlError>

    /**
     * Moves the run of a delayed task that has not started. The trigger is `schedule` for another
     * time and `manual` for "run it now". Returns null and changes nothing if the run has started,
     * has ended or was withdrawn.
     */
    readonly reschedule: (
      task: TaskOfRun & {
        readonly run_at: Date
        readonly trigger: "schedule" | "manual"
        readonly input?: ManualRun["input"]
      }
    ) => Effect.Effect<QueuedRun | null>

    /** Removes the run of a delayed task without a trace. False if it has started or ended. */
    readonly withdraw: (task: TaskOfRun) => Effect.Effect<boolean>

    /**
     * Call it before the schedule of a task changes or resumes. It removes the runs of slots that
     * are still to come, which fired ahead, and returns the moment after which the schedule fires.
     */
    readonly withdrawSlots: (task: TaskOfRun) => Effect.Effect<Date>

    /**
     * For a paused or deleted task: none of its runs starts from now on. Queued runs are recorded
     * as cancelled, except those of slots still to come, which leave no trace. Running ones are cut
     * off by their nodes. The request stops a few hundred itself, and the rest is stopped after it.
     */
    readonly stop: (task: TaskOfRun) => Effect.Effect<void>

    /**
     * Cancels one execution. `cancelled` means that it was queued and is now recorded as cancelled.
     * `requested` means that it is running and its node cuts it off within milliseconds. Null means
     * that there is no such unfinished execution.
     */
    readonly cancel: (
      workspaceId: AuthorizedWorkspaceId,
      executionId: string
    ) => Effect.Effect<"cancelled" | "requested" | null>

    /**
     * For a workspace that is deleted: none of its runs starts from now on, and its calls are cut
     * off. Its queue and its history may be long, so they are deleted after the request. Its tasks
     * are deleted by foreign key.
     */
    readonly removeWorkspace: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<void>

    /**
     * Call it after a task changed where its calls are made. Its runs that are in the queue, also
     * those between two attempts, are made there from now on.
     */
    readonly move: (
      task: TaskOfRun,
      place: { readonly run_on: RunOn | null; readonly worker_wait_seconds: number }
    ) => Effect.Effect<void>

    /**
     * Those runs of the task that have not started wait for their turn in this queue, or in none. So
     * do the next attempts and steps of the others.
     */
    readonly moveToQueue: (task: TaskOfRun, queueId: string | null) => Effect.Effect<void>

    /** Call it after a named queue has changed: more of its runs may start now. */
    readonly admit: (workspaceId: AuthorizedWorkspaceId, queueId: string) => Effect.Effect<void>

    /**
     * Call it after a task got a next fire at this time. Nodes that would look for work later look
     * now.
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
      }: Stopped) {
        yield* sql.afterCommit(afterSettled(settlements, settled))
        if (requested.length > 0) yield* sql.afterCommit(signals.cancel(requested))
      })

      /** Clears the first batch. The rest is cleared after the request. */
      const stopAll = Effect.fnUntraced(function* (stop: Stop) {
        yield* afterStopped(yield* clearSome(sql, stop))
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
          return firesAfter(yield* withdrawToCome(task), yield* storeClock(sql))
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

        move: Effect.fn("RunQueue.move")(function* (task, place) {
          yield* moveRuns(sql, task, place)
          yield* sql.afterCommit(signals.wake)
        }, Effect.orDie),

        moveToQueue: Effect.fn("RunQueue.moveToQueue")(function* (task, queueId) {
          yield* moveToQueue(sql, task, queueId)
          yield* sql.afterCommit(queueId === null ? signals.wake : signals.admit([queueId]))
        }, Effect.orDie),

        admit: Effect.fn("RunQueue.admit")(function* (_workspaceId, queueId) {
          yield* sql.afterCommit(signals.admit([queueId]))
        })
      })
    })
  )
}
