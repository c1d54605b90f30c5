import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import { QuotaExceeded } from "@scheduling/domain/shared/Errors"
import { Clock, Effect, type Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { maxUnfinishedRunsPerTask } from "../core/index.ts"
import { Limits } from "../plans/index.ts"
import { LiveChanges, Signals } from "../events/index.ts"
import type { TaskOfRun } from "./Run.ts"
import { backfill } from "./transitions/backfill.ts"
import { copiedTaskColumns, type InsertedRun, enqueue } from "./transitions/enqueue.ts"
import { type RerunRequest, rerun, isSomeTaskOverLimit } from "./transitions/rerun.ts"
import { RunnerOptions } from "./RunnerOptions.ts"
import { publishQueued } from "./publishRunChanges.ts"

/** A run that a user starts. */
export interface ManualRun extends TaskOfRun {
  readonly kind: ExecutionKind
  readonly input?: Schema.Json | undefined
  readonly priority?: number | undefined
}

/** The methods of `RunQueue` that add runs, and the insert that they share. */
export const makeAddRuns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const limits = yield* Limits
  const { announce, announceAll, wake } = yield* makeAnnounce
  const forRuns = sql.literal(copiedTaskColumns)

  const tooManyOfTask = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId) {
    const { id: plan } = yield* limits.planOf(workspaceId)
    const quota = "unfinished_runs_of_a_task"
    return yield* new QuotaExceeded({ quota, limit: maxUnfinishedRunsPerTask, plan })
  })

  const insert = Effect.fnUntraced(function* (run: TaskOfRun & Parameters<typeof enqueue>[1]) {
    const inserted = yield* enqueue(sql, run)
    if (inserted === null) return yield* tooManyOfTask(run.workspace_id)
    yield* announce(inserted)
    return inserted
  })

  return {
    insert,

    enqueue: Effect.fn("RunQueue.enqueue")(
      function* (task: ManualRun) {
        yield* limits.allowMoreOfMany(task.workspace_id, "unfinished_runs")
        return yield* insert({ ...task, trigger: "manual", run_at: null })
      },
      Effect.catchTag("SqlError", Effect.die)
    ),

    enqueueInOneStatement: Effect.fn("RunQueue.enqueueInOneStatement")(
      function* (task: ManualRun) {
        const { kind, task_id, workspace_id } = task
        if (!(yield* limits.takeOneOfMany(workspace_id, "unfinished_runs"))) return null
        const inserted = yield* enqueue(sql, {
          ...task,
          trigger: "manual",
          run_at: null,
          task: sql`
            SELECT ${forRuns}
            FROM tasks
            WHERE workspace_id = ${workspace_id}
              AND kind = ${kind}
              AND id = ${task_id}
            FOR UPDATE`,
          // A statement that waits for the lock does not see rows that other statements insert
          // during the wait, so it leaves room for them.
          most: maxUnfinishedRunsPerTask - atTheSameTime
        })
        if (inserted !== null) yield* announce(inserted)
        return inserted
      },
      Effect.catchTag("SqlError", Effect.die)
    ),

    rerun: Effect.fn("RunQueue.rerun")(
      function* (workspaceId: AuthorizedWorkspaceId, ended: ReadonlyArray<RerunRequest>) {
        if (ended.length === 0) return []
        yield* limits.allowMoreOfMany(workspaceId, "unfinished_runs", ended.length)
        const runs = yield* rerun(sql, workspaceId, ended)
        if (yield* isSomeTaskOverLimit(sql, runs)) return yield* tooManyOfTask(workspaceId)
        yield* announceAll(runs)
        return runs
      },
      sql.withTransaction,
      Effect.catchTag("SqlError", Effect.die)
    ),

    backfill: Effect.fn("RunQueue.backfill")(
      function* (workspaceId: AuthorizedWorkspaceId, taskId: string, times: ReadonlyArray<Date>) {
        if (times.length === 0) return
        yield* limits.allowMoreOfMany(workspaceId, "unfinished_runs", times.length)
        const runs = yield* backfill(sql, workspaceId, taskId, times)
        if (yield* isSomeTaskOverLimit(sql, runs)) return yield* tooManyOfTask(workspaceId)
        yield* announceAll(runs)
      },
      Effect.catchTag("SqlError", Effect.die)
    ),

    schedule: Effect.fn("RunQueue.schedule")(
      function* ({
        event,
        insertion,
        ...task
      }: TaskOfRun & {
        readonly run_at: Date
        readonly insertion?: Statement.Fragment
        readonly event?: Statement.Fragment | undefined
      }) {
        const inserting = insertion && { task: sql`${insertion} RETURNING ${forRuns}`, event }
        return yield* insert({ ...task, ...inserting, kind: "delayed", trigger: "schedule" })
      },
      Effect.catchTag("QuotaExceeded", Effect.die)
    ),

    wake
  }
})

/** After the commit, wakes nodes for the added runs and notifies subscribers. */
const makeAnnounce = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const changes = yield* LiveChanges
  const signals = yield* Signals
  const { lookAheadMs, pollMs } = yield* RunnerOptions

  /** Sends the signal if the run is due soon. Nodes find runs that are due later by polling. */
  const ifDueSoon = Effect.fnUntraced(function* (dueAt: Date, signal: Effect.Effect<void>) {
    const nowMs = yield* Clock.currentTimeMillis
    if (dueAt.getTime() < nowMs + lookAheadMs + pollMs) yield* sql.afterCommit(signal)
  })

  const wakeFor = (runs: ReadonlyArray<InsertedRun>) => {
    const queues = new Set(runs.flatMap(({ queue_id }) => queue_id ?? []))
    const some = runs.some(({ queue_id }) => queue_id === null)
    return Effect.andThen(signals.admit([...queues]), some ? signals.wake : Effect.void)
  }

  return {
    announce: Effect.fnUntraced(function* (run: InsertedRun) {
      yield* ifDueSoon(run.scheduled_for, wakeFor([run]))
      yield* sql.afterCommit(Effect.sync(() => publishQueued(changes, run)))
    }),

    /** Does the same as `announce` for runs that are due now. */
    announceAll: Effect.fnUntraced(function* (runs: ReadonlyArray<InsertedRun>) {
      yield* sql.afterCommit(wakeFor(runs))
      yield* sql.afterCommit(Effect.sync(() => runs.forEach((run) => publishQueued(changes, run))))
    }),

    wake: Effect.fn("RunQueue.wake")(function* (dueAt: Date) {
      yield* ifDueSoon(dueAt, signals.wake)
    })
  }
})

/**
 * The maximum number of statements that can wait for one lock. It is higher than the number of
 * connections of PostgreSQL.
 */
const atTheSameTime = 1_000
