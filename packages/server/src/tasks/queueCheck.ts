import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idOfKey } from "../http/index.ts"
import { lockQueue } from "./TaskQueuesRepo.ts"

/**
 * Rejects a queue that the workspace does not have. Call this in the transaction, before the task
 * is locked.
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
 * Replaces `queue_key` by the `queue_id` of that queue. Responses contain both, and a client may
 * send a response back, so both are accepted if they agree.
 */
export const queueByKey =
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
                "names another queue than queue_id: give one of them"
              )
            )
      )
    )
  }

const noSuchQueue = (field: "queue_id" | "queue_key", given: string) =>
  Effect.fail(
    ValidationFailed.at([field], "not_found", `names no queue of this workspace: ${given}`)
  )
