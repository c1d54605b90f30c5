import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Changes } from "./Changes.ts"
import type { Change } from "./Recent.ts"

/** Sends the changes of a repository's statements to subscribers after the commit. */
export const tellAfterCommit =
  (sql: SqlClient.SqlClient, changes: Changes) =>
  <Row extends { readonly workspace_id: string }>(
    rows: ReadonlyArray<Row>,
    toChange: (row: Row) => Change
  ): Effect.Effect<void> =>
    changes.isIdle || rows.length === 0
      ? Effect.void
      : sql.afterCommit(
          Effect.sync(() => {
            for (const row of rows) changes.tell(row.workspace_id, [toChange(row)])
          })
        )
