import type { SqlClient } from "effect/sql"

/**
 * Gives back runs whose calls were not made, so that any node can take them. A run that a claim had
 * marked as running is queued again as it was.
 */
export const handBack = (sql: SqlClient.SqlClient, node: number, ids: ReadonlyArray<string>) =>
  sql`
    UPDATE runs
    SET
      lease_owner = NULL,
      state = 'queued',
      started_at = CASE
        WHEN state = 'running' AND started_at = attempt_started_at THEN NULL
        ELSE started_at
      END
    WHERE lease_owner = ${node}
      AND id = ANY (${ids}::uuid[])`
