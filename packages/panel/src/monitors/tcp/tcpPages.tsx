import type { TcpMonitor, TcpMonitorInput } from "@scheduling/sdk"
import type { FactsByName } from "../../ui/layout/Page.tsx"
import { LineList } from "../checks/checkFacts.tsx"
import { escapeLineBreaks } from "../checks/lineBreaks.ts"
import { checkPages } from "../checks/checkPages.tsx"
import { newTcpValues, TcpFields, tcpInputOf, type TcpValues, tcpValuesOf } from "./TcpFields.tsx"
import { TcpPreview } from "./TcpPreview.tsx"

const factsOf = (monitor: TcpMonitor): FactsByName => ({
  ...(monitor.send !== null && { Sends: <LineList of={[escapeLineBreaks(monitor.send)]} /> }),
  ...(monitor.expect !== null && {
    Expects: <LineList of={[escapeLineBreaks(monitor.expect)]} />
  })
})

export const tcpPages = checkPages<TcpMonitor, TcpValues, TcpMonitorInput>({
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
  factsOf
})
