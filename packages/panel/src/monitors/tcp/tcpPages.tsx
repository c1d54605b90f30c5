import type { CheckEvent, TcpMonitor, TcpMonitorInput } from "@scheduling/sdk"
import { FactsSection } from "../../ui/layout/Page.tsx"
import { checkEventList, checkFacts, LineList } from "../checks/checkFacts.tsx"
import { escapeLineBreaks } from "../checks/lineBreaks.ts"
import { PlaceResults } from "../checks/PlaceResults.tsx"
import { CheckNowButton } from "../CheckNowButton.tsx"
import { monitorPages } from "../monitorPages.tsx"
import { newTcpValues, TcpFields, tcpInputOf, type TcpValues, tcpValuesOf } from "./TcpFields.tsx"
import { TcpPreview } from "./TcpPreview.tsx"

const factsOf = (monitor: TcpMonitor) =>
  checkFacts(monitor, {
    Server: <LineList of={[`${monitor.host}:${monitor.port}`]} />,
    ...(monitor.send !== null && { Sends: <LineList of={[escapeLineBreaks(monitor.send)]} /> }),
    ...(monitor.expect !== null && {
      Expects: <LineList of={[escapeLineBreaks(monitor.expect)]} />
    })
  })

export const tcpPages = monitorPages<TcpMonitor, CheckEvent, TcpValues, TcpMonitorInput>({
  kind: "tcp",
  resource: ({ tcpMonitors }) => tcpMonitors,
  form: {
    description:
      "You are notified when the server does not accept connections, and when it recovers.",
    action: "Create TCP monitor",
    initial: newTcpValues,
    valuesOf: tcpValuesOf,
    inputOf: tcpInputOf,
    Fields: TcpFields,
    Preview: TcpPreview
  },
  useActions: (monitor) => ({
    buttons: (
      <CheckNowButton
        monitor={monitor}
        lastAt={monitor.last_check?.at ?? null}
        resource={({ tcpMonitors }) => tcpMonitors}
      />
    )
  }),
  First: PlaceResults,
  Aside: ({ monitor }) => <FactsSection title="Monitor" facts={factsOf(monitor)} />,
  events: checkEventList,
  isMonitoredAtOnce: true
})
