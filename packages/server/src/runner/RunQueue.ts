import {
  type ExecutionKind,
  maxTaskRuns,
  maxWorkspaceRuns
} from "@scheduling/domain/executions/Execution"
import { QuotaExceeded } from "@scheduling/domain/shared/Errors"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { StoreClock } from "../platform/StoreClock.ts"
import {
  cancelRun,
  firesAfter,
  type Stopped,
  type TaskRef,
  withdrawDelayed,
  withdrawSlots
} from "./Cancel.ts"
import { Endings } from "./Endings.ts"
import { Places } from "../platform/Places.ts"
import { countOfWorkspace, insertRun } from "./Enqueue.ts"
import type { QueuedRun } from "./Run.ts"
import { RunnerOptions } from "./RunnerOptions.ts"
import { Signals } from "./Signals.ts"
import { clearSome, type Stop, stopTask, stopWorkspace } from "./Stop.ts"

/**
 * The one door to the queue for the services that define tasks. Each method writes within the
 * transaction that is open, if any, so that a task and its runs change together; signals follow the
 * commit. A lost database is a defect. Change the row of the task first: it is the lock that firing
 * and these methods share.
 *
 * A run goes: fire or enqueue → claim → start → settle, each a file beside this one; only the runner
 * does those.
 */
export class RunQueue extends Context.Service<
  RunQueue,
  {
    /** One run now, whatever the status of the task and beside others that go on. */
    readonly enqueue: (
      task: TaskRef & { readonly kind: ExecutionKind }
    ) => Effect.Effect<QueuedRun, QuotaExceeded>

    /** The run of a delayed task. A time that has passed means now. */
    readonly schedule: (task: TaskRef & { readonly run_at: Date }) => Effect.Effect<QueuedRun>

    /**
     * Moves the run of a delayed task that has not started: `schedule` to another time, `manual` for
     * "run it now". Null, and nothing changed, once it has started, ended or was withdrawn.
     */
    readonly reschedule: (
      task: TaskRef & { readonly run_at: Date; readonly trigger: "schedule" | "manual" }
    ) => Effect.Effect<QueuedRun | null>

    /** Removes the run of a delayed task without a trace. False once it has started or ended. */
    readonly withdraw: (task: TaskRef) => Effect.Effect<boolean>

    /**
     * Before the schedule of a task changes or goes on: removes the runs of slots that are still to
     * come, which fired ahead, and answers the moment after which the schedule fires.
     */
    readonly withdrawSlots: (task: TaskRef) => Effect.Effect<Date>

    /**
     * For a paused or deleted task: none of its runs starts from now on. Queued ones are recorded as
     * cancelled, but for slots that are still to come, which leave no trace; running ones are cut off
     * by their nodes. A few hundred are stopped at once, more of them behind the request.
     */
    readonly stop: (task: TaskRef) => Effect.Effect<void>

    /**
     * Cancels one execution. `cancelled`: it was queued, and is recorded. `requested`: it is running,
     * and its node cuts it off within milliseconds. Null: there is no such unfinished execution.
     */
    readonly cancel: (
      execution: TaskRef & { readonly execution_id: string }
    ) => Effect.Effect<"cancelled" | "requested" | null>

    /**
     * With a workspace that is deleted: none of its runs starts from now on, and its calls are cut
     * off. Its queue and its history may be long, and are deleted behind the request. Its tasks go by
     * foreign key.
     */
    readonly removeWorkspace: (workspaceId: string) => Effect.Effect<void>

    /** After a task got a next fire at this time: nodes that would look later look now. */
    readonly wake: (dueAt: Date) => Effect.Effect<void>
  }
>()("@scheduling/server/runner/RunQueue") {
  static readonly layer: Layer.Layer<RunQueue, never, SqlClient.SqlClient | Signals | Endings> =
    Layer.effect(
      RunQueue,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const signals = yield* Signals
        const endings = yield* Endings
        const storeClock = yield* StoreClock
        const { lookAheadMs, pollMs } = yield* RunnerOptions

        /** Nodes see by themselves, in time, what is due later than this. */
        const wakeIfDueBy = (dueMs: number, nowMs: number) =>
          dueMs < nowMs + lookAheadMs + pollMs ? sql.afterCommit(signals.wake) : Effect.void

        const tell = (ids: ReadonlyArray<string>) =>
          ids.length === 0 ? Effect.void : sql.afterCommit(Effect.sync(() => endings.tell(ids)))

        const withdraw = Effect.fnUntraced(function* (task: TaskRef) {
          const withdrawn = yield* withdrawDelayed(sql, task)
          yield* tell(withdrawn)
          return withdrawn.length > 0
        })

        const withdrawToCome = Effect.fnUntraced(function* (task: TaskRef) {
          const slots = yield* withdrawSlots(sql, task)
          yield* tell(slots.withdrawn)
          return slots
        })

        const places = new Places(maxWorkspaceRuns)

        const insert = Effect.fnUntraced(function* (run: Parameters<typeof insertRun>[1]) {
          const inserted = yield* insertRun(sql, run)
          if (inserted === null) {
            return yield* new QuotaExceeded({
              quota: "unfinished_runs_of_a_task",
              limit: maxTaskRuns
            })
          }
          yield* wakeIfDueBy(inserted.scheduled_for.getTime(), yield* Clock.currentTimeMillis)
          return inserted
        })

        const tellOf = Effect.fnUntraced(function* ({ ended, requested }: Stopped) {
          yield* tell(ended)
          if (requested.length > 0) yield* sql.afterCommit(signals.cancel(requested))
        })

        /** What one row stops at once is cleared behind the request, but for the first batch. */
        const stopAll = Effect.fnUntraced(function* (stop: Stop) {
          yield* tellOf(yield* clearSome(sql, stop))
          yield* sql.afterCommit(signals.stop)
        })

        return RunQueue.of({
          enqueue: Effect.fn("RunQueue.enqueue")(
            function* (task) {
              const count = countOfWorkspace(sql, task.workspace_id)
              if (!(yield* places.take(task.workspace_id.toLowerCase(), count))) {
                return yield* new QuotaExceeded({
                  quota: "unfinished_runs",
                  limit: maxWorkspaceRuns
                })
              }
              return yield* insert({ ...task, trigger: "manual", run_at: null })
            },
            Effect.catchTag("SqlError", Effect.die)
          ),

          schedule: Effect.fn("RunQueue.schedule")(function* (task) {
            return yield* insert({ ...task, kind: "delayed", trigger: "schedule" })
          }, Effect.orDie),

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
            function* (execution) {
              const stopped = yield* cancelRun(sql, execution)
              yield* tellOf(stopped)
              if (stopped.requested.length > 0) return "requested"
              if (stopped.ended.length === 0) return null
              // A run may have waited for this one.
              yield* sql.afterCommit(signals.wake)
              return "cancelled"
            },
            sql.withTransaction,
            Effect.orDie
          ),

          removeWorkspace: Effect.fn("RunQueue.removeWorkspace")(
            function* (workspaceId) {
              yield* stopAll(yield* stopWorkspace(sql, workspaceId))
              yield* sql`
              INSERT INTO removed_workspaces (id)
              VALUES (${workspaceId})
              ON CONFLICT DO NOTHING`
              yield* tell([workspaceId])
            },
            sql.withTransaction,
            Effect.orDie
          ),

          wake: Effect.fn("RunQueue.wake")(function* (dueAt) {
            yield* wakeIfDueBy(dueAt.getTime(), yield* Clock.currentTimeMillis)
          })
        })
      })
    )
}
