import type { ExecutionKind } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { taskLink, taskNames } from "../data/tasks.ts"
import { Skeleton } from "../ui/layout/Page.tsx"

export const TaskName = ({ taskId }: { readonly taskId: string }) => {
  const { workspaceId } = useWorkspace()
  return taskNames.useName(workspaceId, taskId) ?? <Skeleton className="inline-block h-4 w-32" />
}

export const TaskLink = ({
  children,
  className,
  kind,
  runId = null,
  taskId
}: {
  readonly kind: ExecutionKind
  readonly taskId: string
  readonly runId?: string | null
  readonly className: string
  readonly children?: ReactNode
}) => {
  const { workspaceId } = useWorkspace()
  return (
    <Link {...taskLink(workspaceId, kind, taskId, runId)} className={className}>
      {children ?? <TaskName taskId={taskId} />}
    </Link>
  )
}
