const isStoppedWorkspace = (id: string) => `(
  EXISTS (SELECT FROM stopped_workspaces)
  AND EXISTS (
    SELECT
    FROM stopped_workspaces
    WHERE stopped_workspaces.workspace_id = ${id}
  )
)`

/**
 * SQL for whether the workspace of a row is stopped, so that none of its runs starts. Usually no
 * workspace is stopped, and the first condition finds that out once per statement.
 */
export const isInStoppedWorkspace = (table = "runs") => isStoppedWorkspace(`${table}.workspace_id`)

/** SQL for whether the workspace of a row of `queues`, named or of a flow, is stopped. */
export const isQueueInStoppedWorkspace = isStoppedWorkspace(
  "coalesce(queues.workspace_id, queues.flow_workspace_id)"
)
