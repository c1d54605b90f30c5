import type { HeartbeatEvent, HeartbeatMonitor, HeartbeatMonitorInput } from "@scheduling/sdk"
import { RefreshCw } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { describeSchedule } from "../../tasks/schedule/describeSchedule.ts"
import { Confirm } from "../../ui/actions/Dialog.tsx"
import { MenuItem } from "../../ui/actions/Menu.tsx"
import { type FactsByName, FactsSection, Section } from "../../ui/layout/Page.tsx"
import { showSuccessToast } from "../../ui/messages/toast.ts"
import { Code } from "../../ui/values/Code.tsx"
import { CopyableText } from "../../ui/values/Copy.tsx"
import { useNow } from "../../ui/values/clock.ts"
import { formatDurationOfSeconds } from "../../ui/values/format.ts"
import {
  RelativeTime,
  ShortTime,
  Duration,
  ExactTime,
  UserZoneHint
} from "../../ui/values/Time.tsx"
import { monitorPages } from "../monitorPages.tsx"
import { refetchMonitors } from "../queries.ts"
import { heartbeatEventList } from "./heartbeatEventList.tsx"
import {
  HeartbeatFields,
  heartbeatInputOf,
  type HeartbeatValues,
  heartbeatValuesOf,
  newHeartbeatValues
} from "./HeartbeatFields.tsx"
import { HeartbeatPreview } from "./HeartbeatPreview.tsx"
import { PingRecipes } from "./PingRecipes.tsx"

const waits = ({ last_ping_at, status }: HeartbeatMonitor) =>
  status === "new" && last_ping_at === null

const PingUrl = ({ monitor }: { readonly monitor: HeartbeatMonitor }) => {
  const { ping_url } = monitor
  if (ping_url === null) return null
  return (
    <Section title={waits(monitor) ? "Waiting for the first ping" : "Ping URL"}>
      <div className="flex flex-col gap-4">
        <Code label="ping URL" text={ping_url} wrap />
        <PingRecipes url={ping_url} />
        <p className="text-xs text-faint">
          This URL is a secret. Anyone who has it can ping the monitor.
        </p>
      </div>
    </Section>
  )
}

const useHeartbeatActions = ({ id }: HeartbeatMonitor) => {
  const { api, workspaceId } = useWorkspace()
  const [isRotating, setRotating] = useState(false)
  return {
    menuItems: (
      <MenuItem icon={<RefreshCw />} onSelect={() => setRotating(true)}>
        Replace the ping URL
      </MenuItem>
    ),
    buttons: (
      <Confirm
        isOpen={isRotating}
        onClose={() => setRotating(false)}
        title="Replace the ping URL?"
        action="Replace URL"
        onConfirm={async () => {
          await api.heartbeatMonitors.rotateUrl(id)
          showSuccessToast("The ping URL was replaced")
          await refetchMonitors(workspaceId)
        }}
      >
        The old URL stops working immediately. The monitor receives no pings until the job uses the
        new URL.
      </Confirm>
    )
  }
}

/** True if ping times need second precision. */
const isShort = ({ grace_seconds, period_seconds }: HeartbeatMonitor) =>
  Math.min(grace_seconds, period_seconds ?? grace_seconds) < 120

const factsOf = (monitor: HeartbeatMonitor, now: number): FactsByName => {
  const Moment = isShort(monitor) ? ExactTime : ShortTime
  const isOverdue = monitor.expected_at !== null && Date.parse(monitor.expected_at) < now
  const spanOrNull = (seconds: number | null) =>
    seconds === null ? null : formatDurationOfSeconds(seconds)
  return {
    "Expected pings":
      monitor.schedule === null ? (
        `Every ${formatDurationOfSeconds(monitor.period_seconds ?? 0)}`
      ) : (
        <>
          {describeSchedule(monitor.schedule, monitor.timezone ?? "UTC")}
          <span className="block text-xs text-faint">
            <span className="mr-1.5 font-mono">{monitor.schedule}</span>
            {monitor.timezone}
          </span>
        </>
      ),
    "Last ping":
      monitor.last_ping_at === null ? "None yet" : <RelativeTime at={monitor.last_ping_at} />,
    "Last run took": monitor.last_duration_ms !== null && (
      <Duration ms={monitor.last_duration_ms} />
    ),
    "Running since": monitor.running_since !== null && <RelativeTime at={monitor.running_since} />,
    [isOverdue ? "Overdue since" : "Next ping"]: monitor.expected_at !== null && (
      <Moment at={monitor.expected_at} />
    ),
    "Goes down at": monitor.alert_at !== null && <Moment at={monitor.alert_at} />,
    "Grace period": formatDurationOfSeconds(monitor.grace_seconds),
    "Maximum duration": spanOrNull(monitor.max_duration_seconds),
    "Minimum time between runs": spanOrNull(monitor.min_interval_seconds),
    Created: <ShortTime at={monitor.created_at} />,
    Id: <CopyableText text={monitor.id} />
  }
}

const HeartbeatFacts = ({ monitor }: { readonly monitor: HeartbeatMonitor }) => (
  <FactsSection
    title="Monitor"
    actions={monitor.timezone !== null && <UserZoneHint scheduleZone={monitor.timezone} />}
    facts={factsOf(monitor, useNow())}
  />
)

export const heartbeatPages = monitorPages<
  HeartbeatMonitor,
  HeartbeatEvent,
  HeartbeatValues,
  HeartbeatMonitorInput
>({
  kind: "heartbeat",
  resource: ({ heartbeatMonitors }) => heartbeatMonitors,
  form: {
    description:
      "Your job requests a URL when it finishes. If the request does not arrive, you are notified.",
    action: "Create heartbeat monitor",
    initial: newHeartbeatValues,
    valuesOf: heartbeatValuesOf,
    inputOf: heartbeatInputOf,
    Fields: HeartbeatFields,
    Preview: HeartbeatPreview
  },
  useActions: useHeartbeatActions,
  First: ({ monitor }) => waits(monitor) && <PingUrl monitor={monitor} />,
  Aside: ({ monitor }) => (
    <>
      <HeartbeatFacts monitor={monitor} />
      {!waits(monitor) && <PingUrl monitor={monitor} />}
    </>
  ),
  events: heartbeatEventList,
  isMonitoredAtOnce: false
})
