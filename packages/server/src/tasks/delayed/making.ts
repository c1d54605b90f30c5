import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { delayedTaskDefaults, type DelayedTaskInput } from "@scheduling/domain/delayed/DelayedTask"
import { DelayedTaskId, ExecutionId } from "@scheduling/domain/shared/Ids"
import { Effect, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { Limits } from "../../plans/index.ts"
import { Ids } from "../../core/index.ts"
import { RunQueue } from "../../engine/index.ts"
import { StoreClock, transactionOf, undoneAlone } from "../../store/index.ts"
import { withCallOptions } from "../callOptions.ts"
import { callbackTargets, withEndingOptions } from "../endingOptions.ts"
import { queueCheck } from "../queueCheck.ts"
import { targetCheck } from "@scheduling/calls/egress/targetCheck"
import { type DelayedTaskRow, DelayedTasksRepo, toDelayedTask } from "./DelayedTasksRepo.ts"
import { dueFields, isPending, runAtOf } from "./runAt.ts"

interface Due {
  readonly now: Date
  readonly run_at: Date
}

/** The steps of making a delayed task, and all of them. */
export const making = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const transaction = transactionOf(sql)
  const alone = undoneAlone(sql)
  const storeNow = Effect.orDie((yield* StoreClock)(sql))
  const ids = yield* Ids
  const limits = yield* Limits
  const queue = yield* RunQueue
  const repo = yield* DelayedTasksRepo
  const checkTargets = yield* targetCheck
  const checkQueue = yield* queueCheck

  const dueOf = Effect.fnUntraced(function* (input: DelayedTaskInput) {
    yield* checkTargets([{ ...input, path: ["url"] }, ...callbackTargets(input)])
    const now = yield* storeNow
    const due: Due = { now, run_at: (yield* runAtOf(input, now)) ?? now }
    return due
  })

  /** Holds until the commit. */
  const allow = Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    { queue_id }: DelayedTaskInput
  ) {
    yield* limits.allowMoreOfMany(workspaceId, "pending_delayed_tasks")
    yield* checkQueue(workspaceId, queue_id)
  })

  const insert = Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    input: DelayedTaskInput,
    { now, run_at }: Due
  ) {
    const row: DelayedTaskRow = {
      ...withEndingOptions(
        withCallOptions({ ...delayedTaskDefaults, ...Struct.omit(input, dueFields) })
      ),
      id: DelayedTaskId.make(yield* ids.next),
      workspace_id: workspaceId,
      status: "pending",
      run_at,
      created_at: now,
      updated_at: now
    }
    const run = yield* repo.insertBy(row, (insertion) =>
      queue.schedule({ workspace_id: workspaceId, task_id: row.id, run_at, insertion })
    )
    return toDelayedTask({
      ...row,
      status: isPending(row, now) ? "pending" : "running",
      last_run_id: ExecutionId.make(run.id),
      last_run_status: run.status,
      last_run_finished_at: null
    })
  })

  /**
   * Most are made with one statement and no transaction. On a busy node every statement waits for a
   * turn of its event loop.
   */
  const make = Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    input: DelayedTaskInput
  ) {
    const inserted = insert(workspaceId, input, yield* dueOf(input))
    const isAllowed =
      (input.queue_id ?? null) === null &&
      (yield* limits.takeOneOfMany(workspaceId, "pending_delayed_tasks"))
    return yield* isAllowed
      ? Effect.catchTag(alone(inserted), "SqlError", Effect.die)
      : transaction(Effect.andThen(allow(workspaceId, input), inserted))
  })

  return { allow, dueOf, insert, make }
})
