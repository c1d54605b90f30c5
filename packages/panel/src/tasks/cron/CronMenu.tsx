import type { CronTask } from "@scheduling/sdk"
import { TaskMenu } from "../TaskMenu.tsx"
import { useCronActions } from "./useCronActions.ts"

/** All that can be done with a cron task. */
export const CronMenu = ({
  onRemoved,
  task
}: {
  readonly task: CronTask
  readonly onRemoved?: () => void
}) => {
  const params = { workspaceId: task.workspace_id, taskId: task.id }
  return (
    <TaskMenu
      task={task}
      actions={useCronActions()}
      editLink={{ to: "/w/$workspaceId/cron/$taskId/edit", params }}
      copyLink={{ to: "/w/$workspaceId/cron/new", params, search: { from: task.id } }}
      warning="It stops firing, and runs that are queued or running are cancelled. Its executions stay readable."
      onRemoved={onRemoved}
    />
  )
}
