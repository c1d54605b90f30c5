import type { SqlClient, Statement } from "effect/sql"

/** SQL condition for the workspaces of which the user is the only owner. */
export const isSoleOwner = (sql: SqlClient.SqlClient, userId: string): Statement.Fragment => sql`
  workspaces.id IN (
    SELECT workspace_id
    FROM memberships
    WHERE user_id = ${userId} AND role = 'owner'
  )
  AND NOT EXISTS (
    SELECT 1
    FROM memberships
    WHERE workspace_id = workspaces.id AND user_id <> ${userId} AND role = 'owner'
  )`
