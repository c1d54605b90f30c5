import type { ExecutionKind, WorkspaceId } from "@scheduling/sdk"
import { useTaskName } from "../data/tasks.ts"
import { Skeleton } from "../ui/Page.tsx"

export const TaskName = ({
  kind,
  taskId,
  workspaceId
}: {
  readonly workspaceId: WorkspaceId
  readonly kind: ExecutionKind
  readonly taskId: string
}) => useTaskName(workspaceId, kind, taskId) ?? <Skeleton className="inline-block h-4 w-32" />
