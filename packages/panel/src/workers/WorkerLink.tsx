import type { WorkerId } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { Skeleton } from "../ui/layout/Page.tsx"
import { workerQueries } from "./queries.ts"

export const WorkerLink = ({ workerId }: { readonly workerId: WorkerId }) => {
  const { workspaceId } = useWorkspace()
  const { data, isError } = useQuery(workerQueries.one(workspaceId, workerId))
  if (isError) return "A deleted worker"
  if (data === undefined) return <Skeleton className="inline-block h-4 w-32" />
  return (
    <Link
      to="/w/$workspaceId/workers/$workerId"
      params={{ workspaceId, workerId }}
      className="font-medium underline-offset-2 hover:underline"
    >
      {data.name}
    </Link>
  )
}
