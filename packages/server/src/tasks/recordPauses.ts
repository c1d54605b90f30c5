import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { withServiceAuthor, ChangeLog } from "../accounts/index.ts"
import { TaskPauses } from "../engine/index.ts"
import { runInOpenTransactionOf } from "../store/index.ts"
import { pauseChange } from "./pauseChange.ts"

/** Writes to the change log which tasks were paused because they failed too often in a row. */
export const RecordPausesLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const changeLog = yield* ChangeLog
    const pauses = yield* TaskPauses
    pauses.record = (engineSql, tasks) =>
      Effect.forEach(
        tasks,
        ({ kind, paused_at, paused_by, reason, ...task }) => {
          const before = { ...task, status: "active" as const }
          const after = {
            ...task,
            status: "paused" as const,
            version: task.version + 1,
            updated_at: paused_at,
            updated_by: paused_by
          }
          return changeLog.record(pauseChange(kind, before, after, { reason }))
        },
        { discard: true }
      ).pipe(
        withServiceAuthor("system", "pause_after_failures"),
        runInOpenTransactionOf(engineSql, sql)
      )
  })
)
