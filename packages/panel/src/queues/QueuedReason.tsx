import type { Queue } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import { stripDirectionMarks } from "../ui/values/stripDirectionMarks.ts"
import { pollQueuesMs, queueQueries } from "./queries.ts"

/** Says for which queue a run waits. Shows nothing if the run's task or monitor has no queue. */
export const QueuedReason = ({ of }: { readonly of: object & { queue_id?: string | null } }) =>
  of.queue_id == null ? null : <WaitsFor queueId={of.queue_id} />

const WaitsFor = ({ queueId }: { readonly queueId: string }) => {
  const { workspaceId } = useWorkspace()
  const { rows } = useList({
    ...queueQueries.list(workspaceId),
    refetchInterval: pollQueuesMs
  })
  const queue = rows.find(({ id }) => id === queueId)
  return queue === undefined ? null : (
    <>
      Waits for a slot in the queue{" "}
      <Link
        to="/w/$workspaceId/queues"
        params={{ workspaceId }}
        className="font-medium text-live underline-offset-2 hover:underline"
      >
        {stripDirectionMarks(queue.name)}
      </Link>
      {describeQueue(queue)}
    </>
  )
}

const describeQueue = ({ paused, running }: Queue): string =>
  paused ? ", which is paused." : running === 0 ? "." : `, in which ${running} run now.`
