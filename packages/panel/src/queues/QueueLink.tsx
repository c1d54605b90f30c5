import type { QueueId } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import { queueListOptions } from "./queries.ts"

/** The name of a queue, which leads to all of them. */
const QueueLink = ({ queueId }: { readonly queueId: QueueId }) => {
  const { workspaceId } = useWorkspace()
  const { rows } = useList(queueListOptions(workspaceId))
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

/** The queue of a task that has one. */
export const queueFacts = ({ queue_id }: { readonly queue_id: QueueId | null }) =>
  queue_id === null ? [] : [["Queue", <QueueLink key="queue" queueId={queue_id} />] as const]
