import type { UsageOfDay, UsedLimit } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useSearch } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { Chart } from "../ui/charts/Chart.tsx"
import { classes } from "../ui/classes.ts"
import { capitalize, formatCount, formatDay } from "../ui/values/format.ts"
import { Loaded, LoadedPage } from "../ui/messages/Loaded.tsx"
import { Card, Page, Section } from "../ui/layout/Page.tsx"
import { CheckoutNotice } from "./CheckoutNotice.tsx"
import { PlanSection } from "./PlanSection.tsx"
import { billingOptions, usageOptions } from "./queries.ts"

export const UsagePage = () => {
  const { workspaceId } = useWorkspace()
  const { checkout } = useSearch({ from: "/inside/w/$workspaceId/usage" })
  return (
    <LoadedPage query={useQuery(billingOptions(workspaceId))} name="Usage">
      {(billing) => (
        <Page
          title="Usage"
          description={`The usage of this workspace, and the limits of its plan, “${billing.plan.name}”.`}
        >
          {checkout !== undefined && <CheckoutNotice billing={billing} outcome={checkout} />}
          <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
            <Section title="Limits">
              <Card className="divide-y divide-line">
                {billing.usage.map((limit) => (
                  <Limit key={limit.quota} limit={limit} />
                ))}
              </Card>
            </Section>
            <div className="flex min-w-0 flex-col gap-8">
              <Days />
              {billing.provider !== "none" && <PlanSection billing={billing} />}
            </div>
          </div>
        </Page>
      )}
    </LoadedPage>
  )
}

/** The limits whose names do not say what is counted. */
const names: Readonly<Record<string, string>> = {
  api_keys: "All API keys, including revoked and expired ones",
  second_precision_tasks: "Tasks with second precision",
  executions_a_month: "Executions this month"
}

const nameOf = (quota: string) =>
  names[quota] ?? capitalize(quota.replaceAll("_", " ").replace("api", "API"))

const Limit = ({ limit: { limit, quota, used } }: { readonly limit: UsedLimit }) => {
  const share = limit === null ? 0 : limit === 0 ? 1 : used / limit
  return (
    <div className="grid grid-cols-[1fr_auto] items-center gap-x-6 gap-y-1.5 px-5 py-2.5 sm:grid-cols-[14rem_1fr_8rem]">
      <span>{nameOf(quota)}</span>
      <span
        aria-hidden
        className="h-1.5 overflow-hidden rounded-full bg-sunken max-sm:order-last max-sm:col-span-2"
      >
        <span
          className={classes(
            "block h-full rounded-full",
            share >= 1 ? "bg-bad" : share >= 0.8 ? "bg-warn" : "bg-faint"
          )}
          style={{ width: `${Math.min(100, share * 100)}%` }}
        />
      </span>
      <span className="nums text-right text-soft">
        {formatCount(used)}
        {limit === null ? ", no limit" : ` of ${formatCount(limit)}`}
      </span>
    </div>
  )
}

const Days = () => {
  const { workspaceId } = useWorkspace()
  return (
    <Section title="Usage by day">
      <Loaded query={useQuery(usageOptions(workspaceId))} height="h-48">
        {(days) => (
          <Card className="flex flex-col gap-6 p-5">
            <Bars name="Executions" days={days} of={({ executions }) => executions} />
            <Bars name="Notifications" days={days} of={({ notifications }) => notifications} />
          </Card>
        )}
      </Loaded>
    </Section>
  )
}

const dayMs = 86_400_000

/** The days of the usage are those of UTC. */
const formatUsageDay = (day: UsageOfDay | undefined) => day && formatDay(day.day, "UTC")

const Bars = ({
  days,
  name,
  of
}: {
  readonly name: string
  readonly days: ReadonlyArray<UsageOfDay>
  readonly of: (day: UsageOfDay) => number
}) => {
  const most = Math.max(1, ...days.map(of))
  const sum = days.reduce((total, day) => total + of(day), 0)
  return (
    <div>
      <p className="mb-4 flex items-baseline justify-between">
        <span className="text-soft">{name}</span>
        <span>
          <b className="font-semibold nums">{formatCount(sum)}</b>{" "}
          <span className="text-sm text-faint">in {days.length} days</span>
        </span>
      </p>
      <Chart
        label={`${name} per day`}
        columns={days.map((day) => {
          const start = Date.parse(day.day)
          return { start, end: start + dayMs, values: formatCount(of(day)) }
        })}
        top={formatCount(most)}
        bottom="0"
        axis={
          <div className="flex justify-between">
            <span>{formatUsageDay(days[0])}</span>
            <span>{formatUsageDay(days.at(-1))}</span>
          </div>
        }
        className="h-16"
      >
        <div className="flex h-full items-end gap-[2px]">
          {days.map((day) => (
            <span
              key={day.day}
              className="min-w-0 grow basis-0 rounded-t-[2px] bg-edge"
              style={{ height: `${(of(day) / most) * 100}%` }}
            />
          ))}
        </div>
      </Chart>
    </div>
  )
}
