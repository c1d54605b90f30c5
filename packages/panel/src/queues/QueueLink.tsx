import type { QueueId } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import type { FactsByName } from "../ui/layout/Page.tsx"
import { queueQueries } from "./queries.ts"

const QueueLink = ({ queueId }: { readonly queueId: QueueId }) => {
  const { workspaceId } = useWorkspace()
  const { rows } = useList(queueQueries.list(workspaceId))
  return (
    <Link
      to="/w/$workspaceId/queues"
      params={{ workspaceId }}
      className="font-medium underline-offset-2 hover:underline"
    >
      {rows.find(({ id }) => id === queueId)?.name ?? queueId}
    </Link>
  )
}

export const queueFacts = ({ queue_id }: { readonly queue_id: QueueId | null }): FactsByName => ({
  Queue: queue_id === null ? undefined : <QueueLink queueId={queue_id} />
})
