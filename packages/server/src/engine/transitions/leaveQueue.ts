import type { SqlClient } from "effect/sql"
import { isInPhase } from "../RunState.ts"

/** One statement lets at most this many runs go. */
const batch = 500

/** Lets runs go whose queue is gone. They were parked while their task was given another one. */
export const leaveQueue = (sql: SqlClient.SqlClient, queueIds: ReadonlyArray<string>) =>
  sql`
    UPDATE runs
    SET queue_id = NULL, state = 'ready', due_at = greatest(due_at, now())
    WHERE ctid = ANY (ARRAY(
        SELECT ctid
        FROM runs
        WHERE ${sql.literal(isInPhase("parked"))}
          AND runs.queue_id = ANY (${queueIds}::uuid[])
          AND NOT EXISTS (SELECT FROM queues WHERE queues.id = runs.queue_id)
        LIMIT ${batch}
        FOR UPDATE SKIP LOCKED
      ))`
