import type { WorkspaceBilling } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import { Check, Undo2 } from "lucide-react"
import { type ReactNode, useEffect, useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { classes } from "../ui/classes.ts"
import { StatusDot } from "../ui/values/Status.tsx"
import { refetchBilling } from "./queries.ts"
import type { CheckoutOutcome } from "./search.ts"

const pollMs = 2_000
const pollForMs = 60_000

/** The notice shown to users who return from the payment page. */
export const CheckoutNotice = ({
  billing: { plan, subscription },
  outcome
}: {
  readonly billing: WorkspaceBilling
  readonly outcome: CheckoutOutcome
}) => {
  const isActive =
    outcome === "done" && (subscription?.status === "active" || subscription?.status === "trialing")
  const isLate = usePolledPlan(outcome === "done" && !isActive)
  if (outcome === "cancelled") {
    return (
      <Notice icon={<Undo2 />} title="The plan was not changed">
        You left the payment page before paying. The plan is still {plan.name}.
      </Notice>
    )
  }
  if (isActive) {
    return (
      <Notice tone="ok" icon={<Check />} title={`Your plan is ${plan.name}`}>
        Its limits apply from now on. You will receive the invoice by email.
      </Notice>
    )
  }
  return (
    <Notice tone="live" icon={<StatusDot tone="live" />} title="Your payment is being confirmed">
      {isLate
        ? "This takes longer than usual. The plan changes as soon as the payment provider confirms the payment. You can leave this page."
        : "The plan changes here in a few seconds."}
    </Notice>
  )
}

/**
 * Polls the plan for a minute while a change is expected. Returns true when the minute has passed.
 */
const usePolledPlan = (isAwaited: boolean): boolean => {
  const { workspaceId } = useWorkspace()
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    if (!isAwaited || isLate) return
    const asking = window.setInterval(() => void refetchBilling(workspaceId), pollMs)
    const waiting = window.setTimeout(() => setLate(true), pollForMs)
    return () => {
      window.clearInterval(asking)
      window.clearTimeout(waiting)
    }
  }, [isAwaited, isLate, workspaceId])
  return isLate
}

const tones = {
  ok: ["border-ok/30 tint-ok", "text-ok"],
  live: ["border-live/30 tint-live", "text-live"],
  none: ["border-line bg-sunken", "text-soft"]
} as const

const Notice = ({
  children,
  icon,
  title,
  tone = "none"
}: {
  readonly title: string
  readonly icon: ReactNode
  readonly children: ReactNode
  readonly tone?: keyof typeof tones
}) => {
  const { workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const close = () =>
    void navigate({ to: "/w/$workspaceId/usage", params: { workspaceId }, replace: true })
  const [box, mark] = tones[tone]
  return (
    <div className={classes("mb-8 flex items-start gap-3 rounded-xl border px-4 py-3.5", box)}>
      <span
        aria-hidden
        className={classes("grid size-5 shrink-0 place-items-center [&_svg]:size-4", mark)}
      >
        {icon}
      </span>
      <div role="status" className="min-w-0 grow">
        <p className="font-semibold">{title}</p>
        <p className="mt-0.5 text-soft">{children}</p>
      </div>
      <Button size="small" look="quiet" onClick={close}>
        Close
      </Button>
    </div>
  )
}
