import type { SchedulingClient, TaskStatus, WorkspaceId } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import { Copy, Pause, Pencil, Play, RotateCcw, Trash2 } from "lucide-react"
import { useWorkspace } from "../data/client.ts"
import { executionsChanged } from "../executions/queries.ts"
import { Button, ButtonLink } from "../ui/actions/Button.tsx"
import { MenuItem } from "../ui/actions/Menu.tsx"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { attempt, tell } from "../ui/messages/toast.ts"
import { Only } from "../ui/role.tsx"
import type { BulkAction } from "./BulkBar.tsx"
import type { TaskWords } from "./TaskPages.tsx"

interface Client {
  readonly run: (id: string) => Promise<{ readonly id: string }>
  readonly pause: (id: string) => Promise<unknown>
  readonly resume: (id: string) => Promise<unknown>
  readonly remove: (id: string) => Promise<unknown>
}

/** A kind of task that repeats until it is paused. */
export interface RepeatingKind extends TaskWords {
  readonly noun: "chains" | "cron"
  readonly clientOf: (client: SchedulingClient) => Client
  readonly changed: (workspaceId: WorkspaceId) => Promise<void>
  /** What the deletion of one means, and of several. */
  readonly warning: string
  readonly bulkWarning: string
  /** Whether a run by hand is shown at once. */
  readonly showsRun: boolean
}

/** What is shown of one of its tasks. */
export interface Repeating {
  readonly id: string
  readonly name: string
  readonly schedule: string | null
  readonly status: TaskStatus
}

/** What can be done with a task from wherever it is shown. */
const useActions = ({ changed, clientOf, noun, showsRun }: RepeatingKind) => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const client = clientOf(api)
  const allChanged = () => Promise.all([changed(workspaceId), executionsChanged(workspaceId)])
  const act =
    (work: (id: string) => Promise<unknown>, done: string) =>
    async ({ id, name }: Repeating) => {
      await attempt(() => work(id), `${name} ${done}`)
      await allChanged()
    }
  return {
    run: act(async (taskId) => {
      const { id } = await client.run(taskId)
      if (!showsRun) return
      const params = { workspaceId, taskId }
      await navigate({ to: `/w/$workspaceId/${noun}/$taskId`, params, search: { run: id } })
    }, "was started"),
    pause: act((id) => client.pause(id), "is paused"),
    resume: act((id) => client.resume(id), "is active again"),
    /** Throws, because its dialog shows what went wrong. */
    remove: async ({ id, name }: Repeating) => {
      await client.remove(id)
      tell(`${name} was deleted`)
      void allChanged()
    }
  }
}

/** All that can be done with what repeats. */
export const RepeatingMenu = ({
  kind,
  onRemoved,
  task
}: {
  readonly kind: RepeatingKind
  readonly task: Repeating
  readonly onRemoved?: () => void
}) => {
  const { workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const { pause, remove, resume, run } = useActions(kind)
  return (
    <RowMenu
      name={task.name}
      role="editor"
      first={
        <MenuItem icon={<Play className="size-4" />} onSelect={() => void run(task)}>
          Run now
        </MenuItem>
      }
      pausing={
        task.schedule === null
          ? undefined
          : {
              isPaused: task.status !== "active",
              pause: () => pause(task),
              resume: () => resume(task)
            }
      }
      onEdit={() =>
        void navigate({
          to: `/w/$workspaceId/${kind.noun}/$taskId/edit`,
          params: { workspaceId, taskId: task.id }
        })
      }
      onDelete={async () => {
        await remove(task)
        onRemoved?.()
      }}
      warning={kind.warning}
    >
      <MenuItem
        icon={<Copy className="size-4" />}
        onSelect={() =>
          void navigate({
            to: `/w/$workspaceId/${kind.noun}/new`,
            params: { workspaceId },
            search: { from: task.id }
          })
        }
      >
        Duplicate
      </MenuItem>
    </RowMenu>
  )
}

/** The buttons on the page of what repeats. */
export const RepeatingActions = ({
  kind,
  task
}: {
  readonly kind: RepeatingKind
  readonly task: Repeating
}) => {
  const { workspaceId } = useWorkspace()
  const { pause, resume, run } = useActions(kind)
  const navigate = useNavigate()
  return (
    <Only role="editor">
      <Button look="main" icon={<Play className="size-4" />} onClick={() => run(task)}>
        Run now
      </Button>
      {task.schedule === null ? null : task.status === "active" ? (
        <Button icon={<Pause className="size-4" />} onClick={() => pause(task)}>
          Pause
        </Button>
      ) : (
        <Button icon={<RotateCcw className="size-4" />} onClick={() => resume(task)}>
          Resume
        </Button>
      )}
      <ButtonLink
        to={`/w/$workspaceId/${kind.noun}/$taskId/edit`}
        params={{ workspaceId, taskId: task.id }}
        icon={<Pencil className="size-4" />}
      >
        Edit
      </ButtonLink>
      <RepeatingMenu
        kind={kind}
        task={task}
        onRemoved={() =>
          void navigate({
            to: `/w/$workspaceId/${kind.noun}`,
            params: { workspaceId },
            replace: true
          })
        }
      />
    </Only>
  )
}

/** What can be done with many at once. */
export const useBulkActions = ({
  bulkWarning,
  clientOf
}: RepeatingKind): ReadonlyArray<BulkAction<{ readonly id: string }>> => {
  const client = clientOf(useWorkspace().api)
  return [
    {
      name: "Pause",
      icon: <Pause className="size-3.5" />,
      done: "is paused",
      act: ({ id }) => client.pause(id)
    },
    {
      name: "Resume",
      icon: <RotateCcw className="size-3.5" />,
      done: "is active again",
      act: ({ id }) => client.resume(id)
    },
    {
      name: "Delete",
      icon: <Trash2 className="size-3.5" />,
      done: "was deleted",
      act: ({ id }) => client.remove(id),
      warning: bulkWarning
    }
  ]
}

/** What lists of what repeats are narrowed to. */
export const statusesOfRepeating = [
  ["active", "Active"],
  ["paused", "Paused"]
] as const
