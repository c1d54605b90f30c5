import type { SslEvent, SslMonitor, SslMonitorInput } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Eye } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { Button } from "../../ui/actions/Button.tsx"
import { type FactsByName, FactsSection } from "../../ui/layout/Page.tsx"
import type { Column } from "../../ui/lists/List.tsx"
import { notifyProblem } from "../../ui/messages/toast.ts"
import { Only } from "../../ui/role.tsx"
import { CopyText } from "../../ui/values/Copy.tsx"
import { duration } from "../../ui/values/format.ts"
import { Badge, Status } from "../../ui/values/Status.tsx"
import { Ago, At, Duration } from "../../ui/values/Time.tsx"
import { eventTimeColumn } from "../MonitorEvents.tsx"
import { monitorPages } from "../monitorPages.tsx"
import { monitorOptions } from "../queries.ts"
import { CertificateFacts } from "./CertificateFacts.tsx"
import { newSsl, SslFields, sslInputOf, type SslValues, sslValuesOf } from "./SslFields.tsx"

const CheckNow = ({ monitor: { id, last_check_at, status } }: { readonly monitor: SslMonitor }) => {
  const { api, workspaceId } = useWorkspace()
  /** The time of the last check before the requested one. */
  const [before, setBefore] = useState<string | null>()
  const isChecking = before !== undefined && last_check_at === before
  // The result is available within a second.
  useQuery({
    ...monitorOptions(api.sslMonitors, workspaceId, id),
    refetchInterval: isChecking || last_check_at === null ? 1_000 : false
  })
  if (status === "paused") return null
  return (
    <Only role="editor">
      <Button
        look="main"
        busy={isChecking}
        icon={<Eye />}
        onClick={async () => {
          setBefore(last_check_at)
          try {
            await api.sslMonitors.check(id)
          } catch (error) {
            setBefore(undefined)
            notifyProblem(error)
          }
        }}
      >
        Check now
      </Button>
    </Only>
  )
}

const factsOf = (monitor: SslMonitor): FactsByName => ({
  Result:
    monitor.verification === null ? (
      "Not checked yet"
    ) : (
      <>
        <Badge tone={monitor.verification === "ok" ? "ok" : "bad"}>
          {monitor.verification.replaceAll("_", " ")}
        </Badge>
        {monitor.verification_message !== null && (
          <span className="mt-1 block text-sm text-soft">{monitor.verification_message}</span>
        )}
      </>
    ),
  Server: (
    <span className="font-mono text-sm">
      {monitor.host}:{monitor.port}
    </span>
  ),
  Protocol: monitor.protocol,
  "Server name": monitor.server_name ?? monitor.host,
  "Last check": <Ago at={monitor.last_check_at} />,
  "Next check": <Ago at={monitor.next_check_at} />,
  "Check interval": duration(monitor.check_interval_seconds * 1_000),
  "Warns before expiry": `${monitor.warn_days.join(", ")} days`,
  Created: <At at={monitor.created_at} />,
  Id: <CopyText text={monitor.id} />
})

const columns: ReadonlyArray<Column<SslEvent>> = [
  {
    key: "status",
    head: "Status",
    className: "w-24 shrink-0",
    cell: ({ status }) => <Status of={status} />
  },
  eventTimeColumn,
  {
    key: "what",
    head: "Result",
    className: "grow basis-0",
    cell: ({ message, type, verification }) => (
      <span className="flex items-center gap-2 overflow-hidden">
        <Badge tone={verification === null || verification === "ok" ? "none" : "bad"}>
          {(verification ?? type).replaceAll("_", " ")}
        </Badge>
        <span className="truncate text-soft" title={message ?? undefined}>
          {message}
        </span>
      </span>
    )
  },
  {
    key: "took",
    head: "Duration",
    className: "w-20 shrink-0 text-right max-sm:hidden",
    cell: ({ duration_ms }) => <Duration ms={duration_ms} />
  }
]

export const sslPages = monitorPages<SslMonitor, SslEvent, SslValues, SslMonitorInput>({
  kind: "ssl",
  resource: ({ sslMonitors }) => sslMonitors,
  form: {
    description:
      "You are notified before the certificate expires and when clients would refuse it.",
    action: "Create certificate monitor",
    initial: newSsl,
    valuesOf: sslValuesOf,
    inputOf: sslInputOf,
    Fields: SslFields
  },
  useActions: (monitor) => ({ buttons: <CheckNow monitor={monitor} /> }),
  First: ({ monitor: { certificate } }) =>
    certificate !== null && <CertificateFacts certificate={certificate} />,
  Aside: ({ monitor }) => <FactsSection title="Monitor" facts={factsOf(monitor)} />,
  events: { title: "Checks", empty: "No checks yet", columns: () => columns },
  isMonitoredAtOnce: true
})
