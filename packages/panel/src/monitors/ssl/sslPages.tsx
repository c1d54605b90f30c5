import type { SslEvent, SslMonitor, SslMonitorInput } from "@scheduling/sdk"
import { type FactsByName, FactsSection } from "../../ui/layout/Page.tsx"
import { type Column, rowTextClass } from "../../ui/lists/List.tsx"
import { CopyableText } from "../../ui/values/Copy.tsx"
import { formatDuration } from "../../ui/values/format.ts"
import { Badge } from "../../ui/values/Status.tsx"
import { RelativeTime, ShortTime } from "../../ui/values/Time.tsx"
import { CheckNowButton } from "../CheckNowButton.tsx"
import { eventDurationColumn, eventStatusColumn, eventTimeColumn } from "../MonitorEvents.tsx"
import { monitorPages } from "../monitorPages.tsx"
import { CertificateFacts } from "./CertificateFacts.tsx"
import {
  newSslValues,
  protocolNames,
  SslFields,
  sslInputOf,
  type SslValues,
  sslValuesOf
} from "./SslFields.tsx"
import { SslPreview } from "./SslPreview.tsx"
import { VerificationResult } from "./VerificationResult.tsx"

const factsOf = (monitor: SslMonitor): FactsByName => ({
  Result:
    monitor.verification === null ? (
      "Not checked yet"
    ) : (
      <VerificationResult
        verification={monitor.verification}
        message={monitor.verification_message}
      />
    ),
  Protocol: protocolNames[monitor.protocol],
  "Server name": monitor.server_name ?? monitor.host,
  "Last check": <RelativeTime at={monitor.last_check_at} />,
  "Next check": <RelativeTime at={monitor.next_check_at} />,
  "Check interval": formatDuration(monitor.check_interval_seconds * 1_000),
  "Warns before expiry": `${monitor.warn_days.join(", ")} days`,
  Created: <ShortTime at={monitor.created_at} />,
  Id: <CopyableText text={monitor.id} />
})

const columns: ReadonlyArray<Column<SslEvent>> = [
  eventStatusColumn,
  eventTimeColumn,
  {
    key: "what",
    head: "Result",
    className: "grow basis-0",
    belowOnPhone: "plain",
    cell: ({ message, type, verification }) => (
      <span className="flex items-center gap-2 overflow-hidden">
        <Badge tone={verification === null ? "none" : verification === "ok" ? "ok" : "bad"}>
          {(verification ?? type).replaceAll("_", " ")}
        </Badge>
        <span className={`${rowTextClass} text-soft`} title={message ?? undefined}>
          {message}
        </span>
      </span>
    )
  },
  eventDurationColumn
]

export const sslPages = monitorPages<SslMonitor, SslEvent, SslValues, SslMonitorInput>({
  kind: "ssl",
  resource: ({ sslMonitors }) => sslMonitors,
  form: {
    description:
      "You are notified before the certificate expires and when clients would reject it.",
    action: "Create SSL monitor",
    initial: newSslValues,
    valuesOf: sslValuesOf,
    inputOf: sslInputOf,
    Fields: SslFields,
    Preview: SslPreview
  },
  useActions: (monitor) => ({
    buttons: (
      <CheckNowButton
        monitor={monitor}
        lastAt={monitor.last_check_at}
        resource={({ sslMonitors }) => sslMonitors}
      />
    )
  }),
  First: ({ monitor: { certificate } }) =>
    certificate !== null && <CertificateFacts certificate={certificate} />,
  Aside: ({ monitor }) => <FactsSection title="Monitor" facts={factsOf(monitor)} />,
  events: { title: "Checks", empty: "No checks yet", columns: () => columns },
  isMonitoredAtOnce: true
})
