import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { RunQueue } from "../engine/index.ts"
import { transactionOf } from "../store/index.ts"

type Run = Parameters<RunQueue["Service"]["enqueue"]>[0]

/** Enqueues a run that is due now. Most runs need one statement and no transaction. */
export const makeRunNow = Effect.gen(function* () {
  const transaction = transactionOf(yield* SqlClient.SqlClient)
  const queue = yield* RunQueue
  /** `lock` locks the task, and must fail if the task does not exist. */
  return Effect.fnUntraced(function* <E>(run: Run, lock: Effect.Effect<unknown, E>) {
    const queued = yield* queue.enqueueInOneStatement(run)
    return queued ?? (yield* transaction(Effect.andThen(lock, queue.enqueue(run))))
  })
})
