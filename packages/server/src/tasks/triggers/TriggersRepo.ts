import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { TriggerSender } from "@scheduling/domain/tasks/Trigger"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { authorize } from "../../accounts/index.ts"
import type { CronOrChainRef } from "../TaskRow.ts"

export interface TriggerRow {
  readonly task_id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly token_hash: string
  readonly sealed_token: string
  readonly sender: TriggerSender | null
  readonly sealed_secret: string | null
  readonly created_at: Date
}

/** The trigger that a request names by its URL, with the kind of its task. */
export interface RequestedTriggerRow extends TriggerRow {
  readonly kind: "cron" | "chain"
  readonly lane: bigint
}

export class TriggersRepo extends Context.Service<
  TriggersRepo,
  {
    /** Returns null for a task without a trigger URL, and undefined if there is no such task. */
    readonly find: (task: CronOrChainRef) => Effect.Effect<TriggerRow | null | undefined>
    /** Locks the task until the transaction ends, and returns its name. */
    readonly lockTask: (
      task: CronOrChainRef
    ) => Effect.Effect<Option.Option<{ readonly name: string | null }>>
    readonly findByHash: (
      hashes: ReadonlyArray<string>
    ) => Effect.Effect<Option.Option<RequestedTriggerRow>>
    readonly save: (row: TriggerRow) => Effect.Effect<void>
    /** Removes the trigger URL. Returns false if the task had none. */
    readonly remove: (task: CronOrChainRef) => Effect.Effect<boolean>
  }
>()("@scheduling/server/tasks/triggers/TriggersRepo") {
  static readonly layer: Layer.Layer<TriggersRepo, never, SqlClient.SqlClient> = Layer.effect(
    TriggersRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const isTask = ({ id, kind, workspaceId }: CronOrChainRef): Statement.Fragment => sql`
        tasks.workspace_id = ${workspaceId}
        AND tasks.kind = ${kind}
        AND tasks.id = ${id}`

      return TriggersRepo.of({
        find: Effect.fn("TriggersRepo.find")(function* (task) {
          const [row] = yield* sql<TriggerRow | Record<keyof TriggerRow, null>>`
            SELECT task_triggers.*
            FROM tasks
            LEFT JOIN task_triggers ON task_triggers.task_id = tasks.id
            WHERE ${isTask(task)}`
          return row === undefined || row.task_id !== null ? row : null
        }, Effect.orDie),

        lockTask: Effect.fn("TriggersRepo.lockTask")(function* (task) {
          const rows = yield* sql<{ readonly name: string | null }>`
            SELECT name
            FROM tasks
            WHERE ${isTask(task)}
            FOR NO KEY UPDATE`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        findByHash: Effect.fn("TriggersRepo.findByHash")(function* (hashes) {
          const rows = yield* sql<RequestedTriggerRow>`
            SELECT task_triggers.*, tasks.kind, tasks.lane
            FROM task_triggers
            JOIN tasks ON tasks.id = task_triggers.task_id
            WHERE task_triggers.token_hash = ANY (${hashes}::text[])`
          return Option.fromNullishOr(
            rows.map((row) => ({ ...row, workspace_id: authorize(row.workspace_id) }))[0]
          )
        }, Effect.orDie),

        save: Effect.fn("TriggersRepo.save")(function* (row) {
          yield* sql`
            INSERT INTO task_triggers ${sql.insert({ ...row })}
            ON CONFLICT (task_id) DO UPDATE
            SET
              token_hash = EXCLUDED.token_hash,
              sealed_token = EXCLUDED.sealed_token,
              sender = EXCLUDED.sender,
              sealed_secret = EXCLUDED.sealed_secret,
              created_at = EXCLUDED.created_at`
        }, Effect.orDie),

        remove: Effect.fn("TriggersRepo.remove")(function* ({ id, workspaceId }) {
          const rows = yield* sql`
            DELETE FROM task_triggers
            WHERE workspace_id = ${workspaceId}
              AND task_id = ${id}
            RETURNING task_id`
          return rows.length > 0
        }, Effect.orDie)
      })
    })
  )
}
