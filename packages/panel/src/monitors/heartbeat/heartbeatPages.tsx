import type { HeartbeatEvent, HeartbeatMonitor, HeartbeatMonitorInput } from "@scheduling/sdk"
import { RefreshCw } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { inWords } from "../../tasks/schedule/inWords.ts"
import { Confirm } from "../../ui/actions/Dialog.tsx"
import { MenuItem } from "../../ui/actions/Menu.tsx"
import { Card, Facts, Section } from "../../ui/layout/Page.tsx"
import { tell } from "../../ui/messages/toast.ts"
import { Code } from "../../ui/values/Code.tsx"
import { CopyText } from "../../ui/values/Copy.tsx"
import { duration } from "../../ui/values/format.ts"
import { Ago, At, Duration, ExactAt, None } from "../../ui/values/Time.tsx"
import { monitorPages } from "../monitorPages.tsx"
import { monitorsChanged } from "../queries.ts"
import { heartbeatEvents } from "./heartbeatEvents.tsx"
import {
  HeartbeatFields,
  heartbeatInputOf,
  type HeartbeatValues,
  heartbeatValuesOf,
  newHeartbeat
} from "./HeartbeatFields.tsx"
import { PingRecipes } from "./PingRecipes.tsx"

const waits = ({ last_ping_at, status }: HeartbeatMonitor) =>
  status === "new" && last_ping_at === null

const PingUrl = ({ monitor }: { readonly monitor: HeartbeatMonitor }) => {
  const { ping_url } = monitor
  if (ping_url === null) return null
  return (
    <Section title={waits(monitor) ? "Waiting for its first ping" : "Ping URL"}>
      <div className="flex flex-col gap-4">
        <Code label="ping URL" text={ping_url} wrap />
        <PingRecipes url={ping_url} />
        <p className="text-xs text-faint">The URL is a secret: who has it can ping.</p>
      </div>
    </Section>
  )
}

const useHeartbeatActions = ({ id }: HeartbeatMonitor) => {
  const { api, workspaceId } = useWorkspace()
  const [isRotating, setRotating] = useState(false)
  return {
    menuItems: (
      <MenuItem icon={<RefreshCw className="size-4" />} onSelect={() => setRotating(true)}>
        Replace the ping URL
      </MenuItem>
    ),
    buttons: (
      <Confirm
        isOpen={isRotating}
        onClose={() => setRotating(false)}
        title="Replace the ping URL?"
        action="Replace"
        onConfirm={async () => {
          await api.heartbeatMonitors.rotateUrl(id)
          tell("The ping URL was replaced")
          await monitorsChanged(workspaceId)
        }}
      >
        The old one answers 404 at once. Jobs that still ask for it are missed until they have the
        new one.
      </Confirm>
    )
  }
}

const spanOf = (seconds: number) => duration(seconds * 1_000)

/** Whether a minute is too coarse for when it pings and when it is down. */
const isShort = ({ grace_seconds, period_seconds }: HeartbeatMonitor) =>
  Math.min(grace_seconds, period_seconds ?? grace_seconds) < 120

const factsOf = (monitor: HeartbeatMonitor) => {
  const Moment = isShort(monitor) ? ExactAt : At
  return [
    [
      "Expected",
      monitor.schedule === null ? (
        `Every ${spanOf(monitor.period_seconds ?? 0)}`
      ) : (
        <>
          {inWords(monitor.schedule)}
          <span className="block text-xs text-faint">
            <span className="font-mono">{monitor.schedule}</span> · {monitor.timezone}
          </span>
        </>
      )
    ],
    ["Last ping", monitor.last_ping_at === null ? "None yet" : <Ago at={monitor.last_ping_at} />],
    ["Last run took", <Duration key="0" ms={monitor.last_duration_ms} />],
    [
      "Running since",
      monitor.running_since === null ? <None /> : <Ago key="1" at={monitor.running_since} />
    ],
    [
      "Next ping",
      monitor.expected_at === null ? <None /> : <Moment key="2" at={monitor.expected_at} />
    ],
    ["Down from", monitor.alert_at === null ? <None /> : <Moment key="3" at={monitor.alert_at} />],
    ["Grace", spanOf(monitor.grace_seconds)],
    [
      "Takes at most",
      monitor.max_duration_seconds === null ? <None /> : spanOf(monitor.max_duration_seconds)
    ],
    [
      "Apart by",
      monitor.min_interval_seconds === null ? <None /> : spanOf(monitor.min_interval_seconds)
    ],
    ["Created", <At key="4" at={monitor.created_at} />],
    ["Id", <CopyText key="5" text={monitor.id} />]
  ] as const
}

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
    action: "Create heartbeat",
    initial: newHeartbeat,
    valuesOf: heartbeatValuesOf,
    inputOf: heartbeatInputOf,
    Fields: HeartbeatFields
  },
  useActions: useHeartbeatActions,
  First: ({ monitor }) => waits(monitor) && <PingUrl monitor={monitor} />,
  Aside: ({ monitor }) => (
    <>
      <Section title="Heartbeat">
        <Card className="p-5">
          <Facts facts={factsOf(monitor)} />
        </Card>
      </Section>
      {!waits(monitor) && <PingUrl monitor={monitor} />}
    </>
  ),
  events: heartbeatEvents,
  isWatchedAtOnce: false
})
