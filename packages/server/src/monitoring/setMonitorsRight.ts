import type { SqlClient } from "effect/sql"
import { eachAlone } from "../store/index.ts"
import { monitorKinds } from "./monitorKinds.ts"

/**
 * Corrects the times that were written before the clock of the database was set back. Those of
 * heartbeats are decided by `Deadlines`.
 */
export const setMonitorsRight = (sql: SqlClient.SqlClient) =>
  eachAlone(...monitorKinds.flatMap((kind) => ("setRight" in kind ? kind.setRight(sql) : [])))
