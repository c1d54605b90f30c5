import type { Queue } from "@scheduling/sdk"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { runWithToast, showSuccessToast } from "../ui/messages/toast.ts"
import { queueQueries } from "./queries.ts"
import { QueueSheet } from "./QueueSheet.tsx"

export const QueueMenu = ({ queue }: { readonly queue: Queue }) => {
  const { api, workspaceId } = useWorkspace()
  const [isEditing, setEditing] = useState(false)
  const { id, name } = queue
  const act = async (work: () => Promise<unknown>, done: string) => {
    await runWithToast(work, `${name} ${done}`)
    await queueQueries.changed(workspaceId)
  }
  return (
    <>
      <RowMenu
        name={name}
        role="editor"
        pausing={{
          isPaused: queue.paused,
          pause: () => act(() => api.queues.pause(id), "was paused"),
          resume: () => act(() => api.queues.resume(id), "was resumed")
        }}
        onEdit={() => setEditing(true)}
        onDelete={async () => {
          await api.queues.delete(id)
          showSuccessToast(`${name} was deleted`)
          await queueQueries.changed(workspaceId)
        }}
        warning="A queue that tasks or chains still use cannot be deleted."
      />
      {isEditing && <QueueSheet queue={queue} onClose={() => setEditing(false)} />}
    </>
  )
}
