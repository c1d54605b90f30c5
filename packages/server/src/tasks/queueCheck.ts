import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { lockQueue } from "./TaskQueuesRepo.ts"

/**
 * Refuses a queue that the workspace does not have. Call it in the transaction and before the task
 * is locked.
 */
export const queueCheck = Effect.map(
  SqlClient.SqlClient,
  (sql) => (workspaceId: AuthorizedWorkspaceId, queueId: string | null | undefined) =>
    queueId === null || queueId === undefined
      ? Effect.void
      : Effect.flatMap(lockQueue(sql, workspaceId, queueId), (isThere) =>
          isThere ? Effect.void : noSuchQueue(queueId)
        )
)

const noSuchQueue = (id: string) =>
  Effect.fail(
    ValidationFailed.at(["queue_id"], "not_found", `names no queue of this workspace: ${id}`)
  )
