import type { Queue } from "@scheduling/sdk"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { Play } from "lucide-react"
import { Button } from "../ui/actions/Button.tsx"
import { RoleGate } from "../ui/role.tsx"
import { runWithToast, showSuccessToast } from "../ui/messages/toast.ts"
import { queueQueries } from "./queries.ts"
import { QueueSheet } from "./QueueSheet.tsx"

const usePausing = ({ id, name }: Queue) => {
  const { api, workspaceId } = useWorkspace()
  const act = async (work: () => Promise<unknown>, done: string) => {
    await runWithToast(work, `${name} ${done}`)
    await queueQueries.changed(workspaceId)
  }
  return {
    pause: () => act(() => api.queues.pause(id), "was paused"),
    resume: () => act(() => api.queues.resume(id), "was resumed")
  }
}

export const ResumeQueueButton = ({ queue }: { readonly queue: Queue }) => {
  const { resume } = usePausing(queue)
  return (
    <RoleGate role="editor">
      <Button
        size="small"
        icon={<Play />}
        aria-label={`Resume ${queue.name}`}
        className="max-sm:size-10 max-sm:p-0"
        onClick={resume}
      >
        <span className="max-sm:hidden">Resume</span>
      </Button>
    </RoleGate>
  )
}

export const QueueMenu = ({ queue }: { readonly queue: Queue }) => {
  const { api, workspaceId } = useWorkspace()
  const [isEditing, setEditing] = useState(false)
  const pausing = usePausing(queue)
  const { id, name } = queue
  return (
    <>
      <RowMenu
        name={name}
        role="editor"
        pausing={{ isPaused: queue.paused, ...pausing }}
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
