import type { Queue } from "@scheduling/sdk"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { attempt, tell } from "../ui/messages/toast.ts"
import { queuesChanged } from "./queries.ts"
import { QueueSheet } from "./QueueSheet.tsx"

/** All that can be done with a queue. */
export const QueueMenu = ({ queue }: { readonly queue: Queue }) => {
  const { api, workspaceId } = useWorkspace()
  const [isEditing, setEditing] = useState(false)
  const { id, name } = queue
  const act = async (work: () => Promise<unknown>, done: string) => {
    await attempt(work, `${name} ${done}`)
    await queuesChanged(workspaceId)
  }
  return (
    <>
      <RowMenu
        name={name}
        role="editor"
        pausing={{
          isPaused: queue.paused,
          pause: () => act(() => api.queues.pause(id), "is paused"),
          resume: () => act(() => api.queues.resume(id), "starts runs again")
        }}
        onEdit={() => setEditing(true)}
        onDelete={async () => {
          await api.queues.remove(id)
          tell(`${name} was deleted`)
          await queuesChanged(workspaceId)
        }}
        warning="A queue that tasks or chains still name is not deleted."
      />
      {isEditing && <QueueSheet queue={queue} onClose={() => setEditing(false)} />}
    </>
  )
}
