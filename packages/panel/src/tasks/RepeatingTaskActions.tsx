import type {
  Backfill,
  BackfillRequest,
  RunRequest,
  SchedulingClient,
  TaskStatus,
  WorkspaceId
} from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import { Braces, Copy, History, Pause, Pencil, Play, Trash2 } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { taskKinds, taskLink } from "../data/tasks.ts"
import { executionQueries } from "../executions/queries.ts"
import { Button, ButtonLink } from "../ui/actions/Button.tsx"
import { MenuItem } from "../ui/actions/Menu.tsx"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { runWithToast, showSuccessToast } from "../ui/messages/toast.ts"
import { RoleGate } from "../ui/role.tsx"
import { useNavigateAfterAction } from "../ui/useNavigateAfterAction.ts"
import type { BulkAction } from "../ui/lists/BulkBar.tsx"
import { BackfillSheet } from "./BackfillSheet.tsx"
import { RunInputDialog } from "./RunInputDialog.tsx"

/** A kind of task that runs repeatedly until it is paused. */
export interface RepeatingTaskKind {
  readonly kind: "chain" | "cron"
  readonly resourceOf: (client: SchedulingClient) => {
    readonly run: (id: string, request?: RunRequest) => Promise<{ readonly id: string }>
    readonly pause: (id: string) => Promise<unknown>
    readonly resume: (id: string) => Promise<unknown>
    readonly backfill: (id: string, request: BackfillRequest) => Promise<Backfill>
    readonly delete: (id: string) => Promise<unknown>
  }
  readonly changed: (workspaceId: WorkspaceId) => Promise<void>
}

export interface RepeatingTask {
  readonly id: string
  readonly name: string
  readonly every: string | null
  readonly schedule: string | null
  readonly status: TaskStatus
}

const isRepeating = ({ every, schedule }: RepeatingTask) => every !== null || schedule !== null

const deletion = "Queued and running runs are cancelled. Finished executions stay in the history."

const useActions = ({ changed, kind, resourceOf }: RepeatingTaskKind) => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigateAfterAction()
  const resource = resourceOf(api)
  const allChanged = () =>
    Promise.all([changed(workspaceId), executionQueries.changed(workspaceId)])
  const act =
    (work: (id: string) => Promise<unknown>, done: string) =>
    async ({ id, name }: RepeatingTask) => {
      await runWithToast(() => work(id), `${name} was ${done}`)
      await allChanged()
    }
  const runAndShow = async (taskId: string, request?: RunRequest) => {
    const run = await resource.run(taskId, request)
    if (kind === "chain") await navigate(taskLink(workspaceId, kind, taskId, run.id))
  }
  return {
    run: act((taskId) => runAndShow(taskId), "started"),
    /** Does not catch errors, because the dialog shows them. */
    runWith: async ({ id, name }: RepeatingTask, request: RunRequest) => {
      await runAndShow(id, request)
      showSuccessToast(`${name} was started`)
      void allChanged()
    },
    backfill: (id: string, request: BackfillRequest) => resource.backfill(id, request),
    pause: act((id) => resource.pause(id), "paused"),
    resume: act((id) => resource.resume(id), "resumed"),
    /** Does not catch errors, because the confirmation dialog shows them. */
    remove: async ({ id, name }: RepeatingTask) => {
      await resource.delete(id)
      showSuccessToast(`${name} was deleted`)
      void allChanged()
    }
  }
}

export const RepeatingTaskMenu = ({
  kind,
  onRemoved,
  task
}: {
  readonly kind: RepeatingTaskKind
  readonly task: RepeatingTask
  readonly onRemoved?: () => void
}) => {
  const { workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const { backfill, pause, remove, resume, run, runWith } = useActions(kind)
  const [isAsking, setAsking] = useState(false)
  const [isBackfilling, setBackfilling] = useState(false)
  const { noun } = taskKinds[kind.kind]
  const params = { workspaceId, taskId: task.id }
  return (
    <>
      <RowMenu
        name={task.name}
        role="editor"
        first={
          <MenuItem icon={<Play />} onSelect={() => void run(task)}>
            Run now
          </MenuItem>
        }
        pausing={
          !isRepeating(task)
            ? undefined
            : {
                isPaused: task.status !== "active",
                pause: () => pause(task),
                resume: () => resume(task)
              }
        }
        onEdit={() => void navigate({ to: `/w/$workspaceId/${noun}/$taskId/edit`, params })}
        onDelete={async () => {
          await remove(task)
          onRemoved?.()
        }}
        warning={deletion}
      >
        <MenuItem
          icon={<Copy />}
          onSelect={() =>
            void navigate({ to: `/w/$workspaceId/${noun}/new`, params, search: { from: task.id } })
          }
        >
          Duplicate
        </MenuItem>
        <MenuItem icon={<Braces />} onSelect={() => setAsking(true)}>
          Run with input
        </MenuItem>
        {isRepeating(task) && (
          <MenuItem icon={<History />} onSelect={() => setBackfilling(true)}>
            Backfill
          </MenuItem>
        )}
      </RowMenu>
      {isRepeating(task) && (
        <BackfillSheet
          task={task}
          backfill={backfill}
          isOpen={isBackfilling}
          onClose={() => setBackfilling(false)}
        />
      )}
      <RunInputDialog
        isOpen={isAsking}
        name={task.name}
        onClose={() => setAsking(false)}
        onRun={(request) => runWith(task, request)}
      />
    </>
  )
}

export const RepeatingTaskActions = ({
  kind,
  task
}: {
  readonly kind: RepeatingTaskKind
  readonly task: RepeatingTask
}) => {
  const { workspaceId } = useWorkspace()
  const { pause, resume, run } = useActions(kind)
  const navigate = useNavigateAfterAction()
  const { noun } = taskKinds[kind.kind]
  const params = { workspaceId, taskId: task.id }
  return (
    <RoleGate role="editor">
      <Button look="main" icon={<Play />} onClick={() => run(task)}>
        Run now
      </Button>
      {!isRepeating(task) ? null : task.status === "active" ? (
        <Button icon={<Pause />} onClick={() => pause(task)}>
          Pause
        </Button>
      ) : (
        <Button icon={<Play />} onClick={() => resume(task)}>
          Resume
        </Button>
      )}
      <ButtonLink to={`/w/$workspaceId/${noun}/$taskId/edit`} params={params} icon={<Pencil />}>
        Edit
      </ButtonLink>
      <RepeatingTaskMenu
        kind={kind}
        task={task}
        onRemoved={() => void navigate({ to: `/w/$workspaceId/${noun}`, params, replace: true })}
      />
    </RoleGate>
  )
}

export const useBulkActions = ({
  resourceOf
}: RepeatingTaskKind): ReadonlyArray<BulkAction<{ readonly id: string }>> => {
  const resource = resourceOf(useWorkspace().api)
  return [
    { name: "Pause", icon: <Pause />, done: "paused", act: ({ id }) => resource.pause(id) },
    { name: "Resume", icon: <Play />, done: "resumed", act: ({ id }) => resource.resume(id) },
    {
      name: "Delete",
      icon: <Trash2 />,
      done: "deleted",
      act: ({ id }) => resource.delete(id),
      warning: deletion
    }
  ]
}
