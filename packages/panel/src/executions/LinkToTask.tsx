import type { ExecutionKind } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"

/** Leads to a task of any kind, or to one run of a chain. */
export const LinkToTask = ({
  children,
  className,
  kind,
  runId = null,
  taskId
}: {
  readonly kind: ExecutionKind
  readonly taskId: string
  readonly runId?: string | null
  readonly className?: string
  readonly children: ReactNode
}) => {
  const { workspaceId } = useWorkspace()
  return kind === "chain" ? (
    <Link
      to="/w/$workspaceId/chains/$taskId"
      params={{ workspaceId, taskId }}
      search={runId === null ? {} : { run: runId }}
      className={className}
    >
      {children}
    </Link>
  ) : (
    <Link
      to={kind === "cron" ? "/w/$workspaceId/cron/$taskId" : "/w/$workspaceId/delayed/$taskId"}
      params={{ workspaceId, taskId }}
      className={className}
    >
      {children}
    </Link>
  )
}
