import type { WorkspaceBilling } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import { Check, Undo2 } from "lucide-react"
import { type ReactNode, useEffect, useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { classes } from "../ui/classes.ts"
import { Dot } from "../ui/values/Status.tsx"
import { billingChanged } from "./queries.ts"
import type { CheckoutOutcome } from "./search.ts"

const askEveryMs = 2_000
const patienceMs = 60_000

/** What somebody sees who comes back from the page on which to pay. */
export const CheckoutNotice = ({
  billing: { plan, subscription },
  outcome
}: {
  readonly billing: WorkspaceBilling
  readonly outcome: CheckoutOutcome
}) => {
  const isThere =
    outcome === "done" && (subscription?.status === "active" || subscription?.status === "trialing")
  const isLate = usePaymentNews(outcome === "done" && !isThere)
  if (outcome === "cancelled") {
    return (
      <Notice icon={<Undo2 className="size-4" />} title="Nothing was bought">
        You left the payment before it was made. The plan is still {plan.name}.
      </Notice>
    )
  }
  if (isThere) {
    return (
      <Notice tone="ok" icon={<Check className="size-4" />} title={`Your plan is ${plan.name}`}>
        Its limits hold from now on. The invoice comes by email.
      </Notice>
    )
  }
  return (
    <Notice
      tone="live"
      icon={<Dot tone="live" />}
      title="Thank you. The payment is being confirmed"
    >
      {isLate
        ? "It takes longer than usual. The plan changes by itself as soon as the payment provider tells us, and you may leave this page."
        : "The plan changes here in a few seconds."}
    </Notice>
  )
}

/** Asks for the plan again and again, and returns whether that has taken long. */
const usePaymentNews = (isAwaited: boolean): boolean => {
  const { workspaceId } = useWorkspace()
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    if (!isAwaited || isLate) return
    const asking = window.setInterval(() => void billingChanged(workspaceId), askEveryMs)
    const waiting = window.setTimeout(() => setLate(true), patienceMs)
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
      <span aria-hidden className={classes("grid size-5 shrink-0 place-items-center", mark)}>
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
