import type { WorkspaceId } from "@scheduling/sdk"
import { useTaskName } from "../data/tasks.ts"
import { Skeleton } from "../ui/layout/Page.tsx"

export const TaskName = ({
  taskId,
  workspaceId
}: {
  readonly workspaceId: WorkspaceId
  readonly taskId: string
}) => useTaskName(workspaceId, taskId) ?? <Skeleton className="inline-block h-4 w-32" />
