import type { Plan, Price, Subscription, WorkspaceBilling } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Card, Section } from "../ui/layout/Page.tsx"
import { Badge } from "../ui/values/Status.tsx"
import { FullTime } from "../ui/values/Time.tsx"
import { runWithToast, showErrorToast } from "../ui/messages/toast.ts"
import { refetchBilling, plansOptions } from "./queries.ts"

/** Opens one of the payment provider's pages. Only an https URL is accepted. */
const goTo = async (page: Promise<{ readonly url: string }>) => {
  try {
    const { url } = await page
    if (url.startsWith("https://")) location.assign(url)
  } catch (error) {
    showErrorToast(error)
  }
}

/** True if the subscription has ended permanently. The user must buy a plan again. */
const hasEnded = ({ status }: Subscription): boolean =>
  status === "canceled" || status === "incomplete_expired"

const priceOf = ({ amount, currency, interval }: Price): string =>
  `${(amount / 100).toLocaleString("en", { style: "currency", currency })} a ${interval}`

export const PlanSection = ({
  billing: { plan, subscription: bought }
}: {
  readonly billing: WorkspaceBilling
}) => {
  const { api, workspaceId } = useWorkspace()
  const subscription = bought === null || hasEnded(bought) ? null : bought
  const { data: plans } = useQuery(plansOptions)
  const act = async (work: () => Promise<unknown>, done: string) => {
    await runWithToast(work, done)
    await refetchBilling(workspaceId)
  }
  const choose = (price: Price) =>
    subscription === null
      ? goTo(api.billing.checkout({ price: price.id }))
      : act(() => api.billing.change({ price: price.id }), "The plan was changed")
  return (
    <Section
      title="Plan"
      actions={
        bought !== null && (
          <Button size="small" onClick={() => goTo(api.billing.portal())}>
            Payment and invoices
          </Button>
        )
      }
    >
      <Card className="divide-y divide-line">
        {plans?.map((one) => (
          <PlanRow key={one.id} plan={one} isCurrent={one.id === plan.id} onChoose={choose} />
        ))}
        {subscription !== null && (
          <div className="flex flex-wrap items-center justify-between gap-4 p-5">
            <p className="text-soft">
              {subscription.cancel_at !== null ? (
                <>
                  Ends on <FullTime at={subscription.cancel_at} />.
                </>
              ) : subscription.current_period_end !== null ? (
                <>
                  Renews on <FullTime at={subscription.current_period_end} />.
                </>
              ) : (
                `The subscription is ${subscription.status.replaceAll("_", " ")}.`
              )}
            </p>
            {subscription.cancel_at === null ? (
              <Button
                look="danger"
                onClick={() =>
                  act(() => api.billing.cancel(), "The plan ends with the current period")
                }
              >
                Cancel plan
              </Button>
            ) : (
              <Button onClick={() => act(() => api.billing.resume(), "The plan continues")}>
                Keep plan
              </Button>
            )}
          </div>
        )}
      </Card>
    </Section>
  )
}

const PlanRow = ({
  isCurrent,
  onChoose,
  plan: { name, prices }
}: {
  readonly plan: Plan
  readonly isCurrent: boolean
  readonly onChoose: (price: Price) => Promise<void>
}) => (
  <div className="flex flex-wrap items-center justify-between gap-4 p-5">
    <p className="flex items-center gap-3 font-medium">
      {name} {isCurrent && <Badge tone="live">current</Badge>}
    </p>
    <div className="flex flex-wrap gap-2">
      {prices.map((price) => (
        <Button key={price.id} size="small" onClick={() => onChoose(price)}>
          {priceOf(price)}
        </Button>
      ))}
    </div>
  </div>
)
