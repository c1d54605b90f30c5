import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idOfKey } from "../http/index.ts"
import { lockQueue } from "./TaskQueuesRepo.ts"

/**
 * Creates the check that the workspace has the task's queue. Run it in the transaction, before
 * locking the task.
 */
export const queueCheck = Effect.map(
  SqlClient.SqlClient,
  (sql) => (workspaceId: AuthorizedWorkspaceId, queueId: string | null | undefined) =>
    queueId === null || queueId === undefined
      ? Effect.void
      : Effect.flatMap(lockQueue(sql, workspaceId, queueId), (isThere) =>
          isThere ? Effect.void : noSuchQueue("queue_id", queueId)
        )
)

interface NamesQueue {
  readonly queue_id?: string | null
  readonly queue_key?: string | null
}

/**
 * Replaces `queue_key` with the `queue_id` of that queue. Responses contain both fields, and a
 * client can send a response back, so both are accepted if they name the same queue.
 */
export const queueKeyToId =
  (sql: SqlClient.SqlClient) =>
  <Given extends NamesQueue>(
    workspaceId: AuthorizedWorkspaceId,
    given: Given
  ): Effect.Effect<Given, ValidationFailed> => {
    const { queue_id = null, queue_key, ...others } = given
    const withId = (id: string | null) => ({ ...others, queue_id: id }) as NamesQueue as Given
    if (queue_key === undefined) return Effect.succeed(given)
    if (queue_key === null) return Effect.succeed(withId(queue_id))
    return idOfKey(sql)(workspaceId, { kind: "queue", key: queue_key }).pipe(
      Effect.catchTag("NotFound", () => noSuchQueue("queue_key", queue_key)),
      Effect.flatMap((id) =>
        queue_id === null || queue_id === id
          ? Effect.succeed(withId(id))
          : Effect.fail(
              ValidationFailed.at(
                ["queue_key"],
                "invalid",
                "is not the key of the queue in queue_id: send only one of the two fields"
              )
            )
      )
    )
  }

const noSuchQueue = (field: "queue_id" | "queue_key", given: string) =>
  Effect.fail(
    ValidationFailed.at([field], "not_found", `matches no queue in this workspace: ${given}`)
  )
