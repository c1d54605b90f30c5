import type { SqlClient } from "effect/sql"
import { runInOwnTransactions } from "../store/index.ts"
import { correctCheckTimesAfterClockSetBack } from "./checks/index.ts"
import { monitorKinds } from "./monitorKinds.ts"

/**
 * Corrects monitors' times that were written before the database clock was set back. `Deadlines`
 * corrects the times of heartbeats.
 */
export const correctMonitorTimesAfterClockSetBack = (sql: SqlClient.SqlClient) =>
  runInOwnTransactions(
    correctCheckTimesAfterClockSetBack(sql),
    ...monitorKinds.flatMap((kind) => ("correctTimes" in kind ? kind.correctTimes(sql) : []))
  )
