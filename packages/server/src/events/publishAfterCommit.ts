import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Changes } from "./Changes.ts"
import type { Change } from "./RecentChanges.ts"

export const publishAfterCommit =
  (sql: SqlClient.SqlClient, changes: Changes) =>
  <Row extends { readonly workspace_id: string }>(
    rows: ReadonlyArray<Row>,
    toChange: (row: Row) => Change
  ): Effect.Effect<void> =>
    changes.isIdle || rows.length === 0
      ? Effect.void
      : sql.afterCommit(
          Effect.sync(() => {
            for (const row of rows) changes.publish(row.workspace_id, [toChange(row)])
          })
        )
