import type { CronTask, Flow, QueueId } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import type { FactsByName } from "../ui/layout/Page.tsx"
import { describeLimits } from "./describeLimits.ts"
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

const FlowKey = ({ flow }: { readonly flow: Flow }) => (
  <span>
    <code className="font-mono text-sm wrap-anywhere">{flow.key}</code>
    <span className="block text-xs text-faint">
      {describeLimits(flow)}
      {flow.fifo && ", in order"}
    </span>
  </span>
)

/** Returns the facts about the queue or flow that limits the runs of a task. */
export const queueFacts = ({
  flow,
  priority,
  queue_id
}: Pick<CronTask, "flow" | "priority" | "queue_id">): FactsByName => ({
  Queue: queue_id === null ? undefined : <QueueLink queueId={queue_id} />,
  "Flow key": flow === null ? undefined : <FlowKey flow={flow} />,
  Priority: priority === 0 ? undefined : String(priority)
})
