import { SchedulePreview } from "../../tasks/schedule/SchedulePreview.tsx"
import { type FactsByName, FactsSection, Section } from "../../ui/layout/Page.tsx"
import { useNow } from "../../ui/values/clock.ts"
import { formatDurationOfSeconds } from "../../ui/values/format.ts"
import { ExactTime } from "../../ui/values/Time.tsx"
import type { HeartbeatValues } from "./HeartbeatFields.tsx"

/** Shows when the next pings are due, and when the monitor would go down if none arrived. */
export const HeartbeatPreview = ({ values }: { readonly values: HeartbeatValues }) => {
  const grace = values.grace_seconds ?? 0
  if (values.by === "period") return <AfterPing values={values} />
  return (
    <Section title="Next pings">
      {values.schedule.trim() === "" ? (
        <p className="text-sm text-faint">Enter a schedule to see the next pings.</p>
      ) : (
        <div className="flex flex-col gap-3">
          <SchedulePreview
            schedule={values.schedule}
            timezone={values.timezone}
            dstOverlap="both"
            isRejected={false}
          />
          <p className="text-sm text-soft">
            {grace === 0
              ? "Without a ping, the monitor goes down at these times."
              : `Without a ping, the monitor is late at these times and goes down ${formatDurationOfSeconds(grace)} later.`}
          </p>
        </div>
      )}
    </Section>
  )
}

/** The deadlines of a monitor with a ping interval, if a ping arrived now. */
const AfterPing = ({ values }: { readonly values: HeartbeatValues }) => {
  const now = useNow()
  const { grace_seconds, max_duration_seconds, period_seconds } = values
  if (period_seconds === null) return null
  const at = (seconds: number) => <ExactTime at={new Date(now + seconds * 1_000).toISOString()} />
  const facts: FactsByName = {
    "Next ping by": at(period_seconds),
    "Goes down without it at": at(period_seconds + (grace_seconds ?? 0)),
    "After /start, ping by": max_duration_seconds !== null && at(max_duration_seconds)
  }
  return <FactsSection title="If a ping arrived now" facts={facts} />
}
