import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** Keeps the queue from being deleted until the transaction ends. False if there is none. */
export const lockQueue = (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  queueId: string
): Effect.Effect<boolean> =>
  sql`
    SELECT id
    FROM queues
    WHERE workspace_id = ${workspaceId}
      AND id = ${queueId}
    FOR KEY SHARE`.pipe(
    Effect.map((rows) => rows.length > 0),
    Effect.orDie
  )
