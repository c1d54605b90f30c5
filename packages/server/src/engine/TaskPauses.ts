import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { Context, type Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** A task that was paused because it failed too often in a row. */
export interface PausedTask {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly kind: "cron" | "chain"
  readonly name: string
  readonly reason: string
  /** The version before the pause. */
  readonly version: number
  readonly updated_at: Date
  readonly updated_by: Actor | null
  readonly paused_at: Date
  readonly paused_by: Actor
}

/**
 * Records the tasks that the engine pauses. `record` runs in the pausing transaction, which is open
 * on the given client. It is set by the module above the engine that owns the change log. While
 * `record` is not set, the engine pauses no task; the next failure of the task repeats the check.
 * Each node has its own value, even if several nodes run in one process.
 */
export const TaskPauses = Context.Reference<{
  record?: (sql: SqlClient.SqlClient, tasks: ReadonlyArray<PausedTask>) => Effect.Effect<void>
}>("@scheduling/server/engine/TaskPauses", { defaultValue: () => ({}) })
