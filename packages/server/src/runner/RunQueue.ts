import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { stopRuns, withdrawRuns } from "./Cancel.ts"
import { Endings } from "./Endings.ts"
import { insertRun } from "./Enqueue.ts"
import type { QueuedRun } from "./Run.ts"
import { RunnerOptions } from "./RunnerOptions.ts"
import { Signals } from "./Signals.ts"

export interface TaskRef {
  readonly workspace_id: string
  readonly task_id: string
}

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
    /** One run now, whatever the status of the task and however many others go on. */
    readonly enqueue: (task: TaskRef & { readonly kind: ExecutionKind }) => Effect.Effect<QueuedRun>

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
     * After the schedule of a task changed: removes the runs of slots that are still to come, which
     * were fired ahead from the schedule as it was.
     */
    readonly forgetSlots: (task: TaskRef) => Effect.Effect<void>

    /**
     * For a paused or deleted task: queued runs are cancelled at once and recorded, but for slots
     * that are still to come, which leave no trace; running ones are cut off by their nodes.
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
     * With a workspace that is deleted: empties its queue and leaves its history, which may be long,
     * to the maintenance loop. Its tasks go by foreign key.
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
        const { lookAheadMs, pollMs } = yield* RunnerOptions

        /** Nodes see by themselves, in time, what is due later than this. */
        const wakeIfDueBy = (dueMs: number, nowMs: number) =>
          dueMs < nowMs + lookAheadMs + pollMs ? sql.afterCommit(signals.wake) : Effect.void

        const tell = (ids: ReadonlyArray<string>) =>
          ids.length === 0 ? Effect.void : sql.afterCommit(Effect.sync(() => endings.tell(ids)))

        const withdraw = Effect.fnUntraced(function* (options: Parameters<typeof withdrawRuns>[1]) {
          const withdrawn = yield* withdrawRuns(sql, options)
          yield* tell(withdrawn)
          return withdrawn.length > 0
        })

        const insert = Effect.fnUntraced(function* (run: Parameters<typeof insertRun>[1]) {
          const inserted = yield* insertRun(sql, run)
          yield* wakeIfDueBy(inserted.scheduled_for.getTime(), yield* Clock.currentTimeMillis)
          return inserted
        })

        const stop = Effect.fnUntraced(function* (options: Parameters<typeof stopRuns>[1]) {
          const stopped = yield* stopRuns(sql, options)
          yield* Effect.forEach(stopped.requested, (id) => sql.afterCommit(signals.cancel(id)), {
            discard: true
          })
          if (stopped.ended.length > 0) yield* sql.afterCommit(signals.wake)
          yield* tell(stopped.ended)
          return stopped
        }, sql.withTransaction)

        return RunQueue.of({
          enqueue: Effect.fn("RunQueue.enqueue")(function* (task) {
            return yield* insert({ ...task, trigger: "manual", run_at: null })
          }, Effect.orDie),

          schedule: Effect.fn("RunQueue.schedule")(function* (task) {
            return yield* insert({ ...task, kind: "delayed", trigger: "schedule" })
          }, Effect.orDie),

          reschedule: Effect.fn("RunQueue.reschedule")(
            function* (task) {
              const withdrawn = yield* withdraw({ ...task, only: "delayed" })
              return withdrawn ? yield* insert({ ...task, kind: "delayed" }) : null
            },
            sql.withTransaction,
            Effect.orDie
          ),

          withdraw: Effect.fn("RunQueue.withdraw")(function* (task) {
            return yield* withdraw({ ...task, only: "delayed" })
          }, Effect.orDie),

          forgetSlots: Effect.fn("RunQueue.forgetSlots")(function* (task) {
            yield* withdraw({ ...task, only: "slots to come" })
          }, Effect.orDie),

          stop: Effect.fn("RunQueue.stop")(
            function* (task) {
              yield* withdraw({ ...task, only: "slots to come" })
              yield* stop({ ...task, execution_id: null })
            },
            sql.withTransaction,
            Effect.orDie
          ),

          cancel: Effect.fn("RunQueue.cancel")(function* (execution) {
            const { ended, requested } = yield* stop(execution)
            return ended.length > 0 ? "cancelled" : requested.length > 0 ? "requested" : null
          }, Effect.orDie),

          removeWorkspace: Effect.fn("RunQueue.removeWorkspace")(
            function* (workspaceId) {
              yield* sql`
              DELETE FROM runs
              WHERE workspace_id = ${workspaceId}`
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
