import type { HeartbeatMonitor } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { RefreshCw } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { inWords } from "../../tasks/schedule/inWords.ts"
import { Code } from "../../ui/values/Code.tsx"
import { CopyText } from "../../ui/values/Copy.tsx"
import { Confirm } from "../../ui/actions/Dialog.tsx"
import { duration } from "../../ui/values/format.ts"
import { Loaded } from "../../ui/messages/Loaded.tsx"
import { MenuItem } from "../../ui/actions/Menu.tsx"
import { Card, Facts, Section } from "../../ui/layout/Page.tsx"
import { Ago, At, Duration, ExactAt, None } from "../../ui/values/Time.tsx"
import { tell } from "../../ui/messages/toast.ts"
import { AboveMonitors, MonitorFrame } from "../MonitorFrame.tsx"
import { MonitorActions } from "../MonitorPages.tsx"
import { askEvery, heartbeatEventsOptions, heartbeatOptions, monitorsChanged } from "../queries.ts"
import { useOldestEvent } from "../useOldestEvent.ts"
import { HeartbeatEvents } from "./HeartbeatEvents.tsx"
import { PingRecipes } from "./PingRecipes.tsx"

export const HeartbeatPage = () => {
  const { workspaceId } = useWorkspace()
  const { monitorId } = useParams({ from: "/inside/w/$workspaceId/monitors/heartbeat/$monitorId" })
  const query = useQuery({
    ...heartbeatOptions(workspaceId, monitorId),
    refetchInterval: askEvery
  })
  return (
    <Loaded query={query} name="Heartbeat" above={<AboveMonitors workspaceId={workspaceId} />}>
      {(monitor) => <Heartbeat monitor={monitor} />}
    </Loaded>
  )
}

const Heartbeat = ({ monitor }: { readonly monitor: HeartbeatMonitor }) => {
  const waits = monitor.status === "new" && monitor.last_ping_at === null
  const ping = <Ping monitor={monitor} waits={waits} />
  const oldest = useOldestEvent(heartbeatEventsOptions(monitor.workspace_id, monitor.id))
  return (
    <MonitorFrame
      monitor={monitor}
      oldest={oldest}
      actions={<HeartbeatActions monitor={monitor} />}
      first={waits && ping}
      aside={
        <>
          <Section title="Heartbeat">
            <Card className="p-5">
              <Facts facts={factsOf(monitor)} />
            </Card>
          </Section>
          {!waits && ping}
        </>
      }
    >
      <HeartbeatEvents monitorId={monitor.id} />
    </MonitorFrame>
  )
}

const Ping = ({
  monitor: { ping_url },
  waits
}: {
  readonly monitor: HeartbeatMonitor
  readonly waits: boolean
}) =>
  ping_url !== null && (
    <Section title={waits ? "Waiting for its first ping" : "Ping URL"}>
      <div className="flex flex-col gap-4">
        <Code label="ping URL" text={ping_url} wrap />
        <PingRecipes url={ping_url} />
        <p className="text-xs text-faint">The URL is a secret: who has it can ping.</p>
      </div>
    </Section>
  )

const HeartbeatActions = ({ monitor }: { readonly monitor: HeartbeatMonitor }) => {
  const { api, workspaceId } = useWorkspace()
  const [isRotating, setRotating] = useState(false)
  return (
    <>
      <MonitorActions monitor={{ ...monitor, kind: "heartbeat" }}>
        <MenuItem icon={<RefreshCw className="size-4" />} onSelect={() => setRotating(true)}>
          Replace the ping URL
        </MenuItem>
      </MonitorActions>
      <Confirm
        isOpen={isRotating}
        onClose={() => setRotating(false)}
        title="Replace the ping URL?"
        action="Replace"
        onConfirm={async () => {
          await api.heartbeatMonitors.rotateUrl(monitor.id)
          tell("The ping URL is a new one")
          await monitorsChanged(workspaceId)
        }}
      >
        The old one answers 404 at once. Jobs that still ask for it are missed until they have the
        new one.
      </Confirm>
    </>
  )
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
