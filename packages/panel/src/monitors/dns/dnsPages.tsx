import type { CheckEvent, DnsMonitor, DnsMonitorInput } from "@scheduling/sdk"
import { FactsSection } from "../../ui/layout/Page.tsx"
import { checkEventList, checkFacts, LineList } from "../checks/checkFacts.tsx"
import { PlaceResults } from "../checks/PlaceResults.tsx"
import { CheckNowButton } from "../CheckNowButton.tsx"
import { monitorPages } from "../monitorPages.tsx"
import {
  DnsFields,
  dnsInputOf,
  type DnsValues,
  dnsValuesOf,
  dnsMatchLabels,
  newDnsValues
} from "./DnsFields.tsx"
import { DnsPreview } from "./DnsPreview.tsx"

const factsOf = (monitor: DnsMonitor) =>
  checkFacts(monitor, {
    Query: <LineList of={[`${monitor.record_type} ${monitor.host}`]} />,
    ...(monitor.resolver !== null && { "Name server": <LineList of={[monitor.resolver]} /> }),
    ...(monitor.expected_values !== null && {
      Expected: (
        <>
          <LineList of={monitor.expected_values} />
          <span className="text-sm text-faint">{dnsMatchLabels[monitor.match]}</span>
        </>
      )
    })
  })

export const dnsPages = monitorPages<DnsMonitor, CheckEvent, DnsValues, DnsMonitorInput>({
  kind: "dns",
  resource: ({ dnsMonitors }) => dnsMonitors,
  form: {
    description:
      "You are notified when the records are not as expected, and when they are correct again.",
    action: "Create DNS monitor",
    initial: newDnsValues,
    valuesOf: dnsValuesOf,
    inputOf: dnsInputOf,
    Fields: DnsFields,
    Preview: DnsPreview
  },
  useActions: (monitor) => ({
    buttons: (
      <CheckNowButton
        monitor={monitor}
        lastAt={monitor.last_check?.at ?? null}
        resource={({ dnsMonitors }) => dnsMonitors}
      />
    )
  }),
  First: PlaceResults,
  Aside: ({ monitor }) => <FactsSection title="Monitor" facts={factsOf(monitor)} />,
  events: checkEventList,
  isMonitoredAtOnce: true
})
