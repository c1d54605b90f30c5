import { Link } from "@tanstack/react-router"
import { CalendarClock, HeartPulse, KeyRound } from "lucide-react"
import { type ReactNode, useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { FirstHeartbeat } from "./FirstHeartbeat.tsx"
import { FirstKey } from "./FirstKey.tsx"

const choice =
  "flex flex-col gap-1 rounded-xl border border-line bg-surface p-5 text-left shadow-card transition-colors duration-100 hover:border-edge hover:bg-sunken/50 [&_svg]:mb-2 [&_svg]:size-5 [&_svg]:text-ok"

/** What somebody can begin with, each in less than a minute. */
export const FirstSteps = () => {
  const { workspaceId } = useWorkspace()
  const [open, setOpen] = useState<"heartbeat" | "key">()
  const close = () => setOpen(undefined)
  return (
    <section aria-labelledby="first-steps">
      <h2 id="first-steps" className="text-lg font-semibold">
        Where do you want to begin?
      </h2>
      <p className="mt-1 mb-4 text-soft">Each takes less than a minute.</p>
      <div className="grid gap-3 md:grid-cols-3">
        <Link to="/w/$workspaceId/cron/new" params={{ workspaceId }} className={choice}>
          <Choice icon={<CalendarClock />} title="Call a URL on a schedule">
            Make a cron task, and see what your server answers.
          </Choice>
        </Link>
        <button type="button" className={choice} onClick={() => setOpen("heartbeat")}>
          <Choice icon={<HeartPulse />} title="Hear when a job is missing">
            Make a heartbeat for a job that runs elsewhere.
          </Choice>
        </button>
        <button type="button" className={choice} onClick={() => setOpen("key")}>
          <Choice icon={<KeyRound />} title="Use the API">
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
  title
}: {
  readonly icon: ReactNode
  readonly title: string
  readonly children: string
}) => (
  <>
    {icon}
    <span className="font-semibold">{title}</span>
    <span className="text-soft">{children}</span>
  </>
)
