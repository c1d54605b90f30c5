import type { SqlClient } from "effect/sql"
import { runInOwnTransactions } from "../store/index.ts"
import { correctCheckTimes } from "./checks/index.ts"
import { monitorKinds } from "./monitorKinds.ts"

/**
 * Corrects times that were written before the clock of the database was set back. `Deadlines`
 * corrects those of heartbeats.
 */
export const correctMonitorTimes = (sql: SqlClient.SqlClient) =>
  runInOwnTransactions(
    correctCheckTimes(sql),
    ...monitorKinds.flatMap((kind) => ("correctTimes" in kind ? kind.correctTimes(sql) : []))
  )
