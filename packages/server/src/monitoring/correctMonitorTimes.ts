import type { SqlClient } from "effect/sql"
import { runEachAlone } from "../store/index.ts"
import { monitorKinds } from "./monitorKinds.ts"

/**
 * Corrects the times that were written before the clock of the database was set back. Those of
 * heartbeats are decided by `Deadlines`.
 */
export const correctMonitorTimes = (sql: SqlClient.SqlClient) =>
  runEachAlone(
    ...monitorKinds.flatMap((kind) => ("correctTimes" in kind ? kind.correctTimes(sql) : []))
  )
