import type { WorkspaceId } from "@scheduling/sdk"
import { useQueries } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { CalendarClock, CircleCheck, HeartPulse, KeyRound, X } from "lucide-react"
import { type ReactNode, useEffect, useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { IconButton } from "../ui/actions/Button.tsx"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { FirstHeartbeatStep } from "./FirstHeartbeatStep.tsx"
import { FirstKeyStep } from "./FirstKeyStep.tsx"

const keyOf = (workspaceId: WorkspaceId) => `first-steps:${workspaceId}`

/** The progress of each workspace's first steps, stored in this browser. */
export const firstStepsProgress = {
  get: (workspaceId: WorkspaceId): string | null => localStorage.getItem(keyOf(workspaceId)),
  set: (workspaceId: WorkspaceId, state: "begun" | "over"): void =>
    localStorage.setItem(keyOf(workspaceId), state)
}

/**
 * Returns which steps are complete. Their conditions are that the workspace has a task, a monitor
 * and an API key, respectively.
 */
const useStepsDone = () => {
  const { api, workspaceId } = useWorkspace()
  const lists = [
    ["cron", (signal: AbortSignal) => api.cron.list({ limit: 1 }, { signal })],
    ["monitors", (signal: AbortSignal) => api.monitors.list({ limit: 1 }, { signal })],
    ["api-keys", (signal: AbortSignal) => api.apiKeys.list({ limit: 1 }, { signal })]
  ] as const
  return useQueries({
    queries: lists.map(([noun, list]) => ({
      // The query key begins like the list's key, so that creating a record invalidates this query
      // too.
      queryKey: ["w", workspaceId, noun, "any"],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
        (await list(signal)).data.length > 0
    })),
    combine: ([task, monitor, key]) => ({
      task: task?.data,
      monitor: monitor?.data,
      key: key?.data
    })
  })
}

const choice =
  "flex flex-col gap-1 rounded-xl border border-line bg-surface p-5 text-left shadow-card transition-colors duration-100 hover:border-edge hover:bg-sunken/50 [&_svg]:mb-2 [&_svg]:size-5"

export const FirstSteps = () => {
  const { workspaceId } = useWorkspace()
  const [open, setOpen] = useState<"heartbeat" | "key">()
  const close = () => setOpen(undefined)
  const [isOver, setOver] = useState(() => firstStepsProgress.get(workspaceId) === "over")
  const done = useStepsDone()
  const isAllDone = done.task === true && done.monitor === true && done.key === true
  // After the last step, the section stays until the next visit, so that a new key remains visible.
  useEffect(
    () => firstStepsProgress.set(workspaceId, isOver || isAllDone ? "over" : "begun"),
    [workspaceId, isOver, isAllDone]
  )
  if (isOver) return null
  return (
    <section aria-labelledby="first-steps">
      <div className="flex items-start justify-between gap-4">
        <h2 id="first-steps" className="text-base font-semibold">
          First steps
        </h2>
        <IconButton label="Dismiss the first steps" onClick={() => setOver(true)}>
          <X className="size-4" />
        </IconButton>
      </div>
      <p className="mb-3 text-soft">Each step takes less than a minute.</p>
      <div className="grid gap-3 md:grid-cols-3">
        <Link to="/w/$workspaceId/cron/new" params={{ workspaceId }} className={choice}>
          <Choice isDone={done.task} icon={<CalendarClock />} title="Call a URL on a schedule">
            Create a cron task and see the responses of your server.
          </Choice>
        </Link>
        <button type="button" className={choice} onClick={() => setOpen("heartbeat")}>
          <Choice isDone={done.monitor} icon={<HeartPulse />} title="Monitor a job">
            Create a heartbeat monitor, and be notified when a job does not run.
          </Choice>
        </button>
        <button type="button" className={choice} onClick={() => setOpen("key")}>
          <Choice isDone={done.key} icon={<KeyRound />} title="Use the API">
            Create a key for your scripts and call the API with curl.
          </Choice>
        </button>
      </div>
      <Sheet isOpen={open === "heartbeat"} onClose={close} title="New heartbeat monitor">
        <FirstHeartbeatStep />
      </Sheet>
      <Sheet isOpen={open === "key"} onClose={close} title="New API key">
        <FirstKeyStep />
      </Sheet>
    </section>
  )
}

const Choice = ({
  children,
  icon,
  isDone = false,
  title
}: {
  readonly isDone: boolean | undefined
  readonly icon: ReactNode
  readonly title: string
  readonly children: string
}) => (
  <>
    <span className={isDone ? "text-ok" : "text-faint"}>{isDone ? <CircleCheck /> : icon}</span>
    <span className="font-semibold">
      {title}
      {isDone && <span className="font-normal text-ok"> · Done</span>}
    </span>
    <span className="text-soft">{children}</span>
  </>
)
