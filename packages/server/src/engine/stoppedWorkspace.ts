/**
 * SQL for whether the workspace of a row is stopped, so that none of its runs starts. Usually, no
 * workspace is stopped. The first condition finds that out once per statement.
 */
export const isInStoppedWorkspace = (table = "runs") => `(
  EXISTS (SELECT FROM stopped_workspaces)
  AND EXISTS (
    SELECT
    FROM stopped_workspaces
    WHERE stopped_workspaces.workspace_id = ${table}.workspace_id
  )
)`
