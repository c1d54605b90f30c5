import type { SqlClient } from "effect/sql"
import { eachAlone, isAhead } from "../store/index.ts"

/**
 * Brings the times of certificates and processes that were written before the clock of the database
 * was set back to now. Those of heartbeats are decided by `Deadlines`.
 */
export const setMonitorsRight = (sql: SqlClient.SqlClient) =>
  eachAlone(
    sql`
      UPDATE ssl_monitors
      SET check_at = now(), last_check_at = least(last_check_at, now())
      WHERE ${sql.literal(isAhead("check_at"))}
        AND (last_check_at IS NULL OR ${sql.literal(isAhead("last_check_at"))})`,
    sql`
      UPDATE process_reports
      SET reported_at = least(reported_at, now()), failing_since = least(failing_since, now())
      WHERE ${sql.literal(isAhead("reported_at"))}`,
    // The decision depends on the reports alone, so it may be made at any time.
    sql`
      UPDATE process_monitors
      SET
        since = least(since, now()),
        failing_since = least(failing_since, now()),
        check_at = least(check_at, now())
      WHERE ${sql.literal(isAhead("greatest(since, failing_since, check_at)"))}`
  )
