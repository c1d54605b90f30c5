import { Link } from "@tanstack/react-router"
import { CalendarClock, CircleCheck, HeartPulse, KeyRound, X } from "lucide-react"
import { type ReactNode, useEffect, useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { IconButton } from "../ui/actions/Button.tsx"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { FirstHeartbeat } from "./FirstHeartbeat.tsx"
import { FirstKey } from "./FirstKey.tsx"
import { areOver, begin, end } from "./firstStepsState.ts"
import { useStepsDone } from "./useStepsDone.ts"

const choice =
  "flex flex-col gap-1 rounded-xl border border-line bg-surface p-5 text-left shadow-card transition-colors duration-100 hover:border-edge hover:bg-sunken/50 [&_svg]:mb-2 [&_svg]:size-5 [&_svg]:text-ok"

/** What somebody can begin with, each in less than a minute. */
export const FirstSteps = () => {
  const { workspaceId } = useWorkspace()
  const [open, setOpen] = useState<"heartbeat" | "key">()
  const close = () => setOpen(undefined)
  const [isOver, setOver] = useState(() => areOver(workspaceId))
  const done = useStepsDone()
  const isAllDone = done.task === true && done.monitor === true && done.key === true
  // When all steps are done, the section disappears at the next visit. So nothing moves now, and a
  // new key stays in view.
  useEffect(() => {
    if (isOver || isAllDone) end(workspaceId)
    else begin(workspaceId)
  }, [workspaceId, isOver, isAllDone])
  if (isOver) return null
  return (
    <section aria-labelledby="first-steps">
      <div className="flex items-start justify-between gap-4">
        <h2 id="first-steps" className="text-lg font-semibold">
          Where do you want to begin?
        </h2>
        <IconButton label="Dismiss the first steps" onClick={() => setOver(true)}>
          <X className="size-4" />
        </IconButton>
      </div>
      <p className="mt-1 mb-4 text-soft">Each takes less than a minute.</p>
      <div className="grid gap-3 md:grid-cols-3">
        <Link to="/w/$workspaceId/cron/new" params={{ workspaceId }} className={choice}>
          <Choice isDone={done.task} icon={<CalendarClock />} title="Call a URL on a schedule">
            Make a cron task, and see what your server answers.
          </Choice>
        </Link>
        <button type="button" className={choice} onClick={() => setOpen("heartbeat")}>
          <Choice isDone={done.monitor} icon={<HeartPulse />} title="Hear when a job is missing">
            Make a heartbeat for a job that runs elsewhere.
          </Choice>
        </button>
        <button type="button" className={choice} onClick={() => setOpen("key")}>
          <Choice isDone={done.key} icon={<KeyRound />} title="Use the API">
            Make a key for your scripts, and call it with curl.
          </Choice>
        </button>
      </div>
      <Sheet isOpen={open === "heartbeat"} onClose={close} title="A first heartbeat">
        <FirstHeartbeat />
      </Sheet>
      <Sheet isOpen={open === "key"} onClose={close} title="A first key">
        <FirstKey />
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
    {isDone ? <CircleCheck /> : icon}
    <span className="font-semibold">
      {title}
      {isDone && <span className="font-normal text-ok"> · Done</span>}
    </span>
    <span className="text-soft">{children}</span>
  </>
)
