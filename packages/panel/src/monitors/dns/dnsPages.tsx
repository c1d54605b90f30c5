import type { DnsMonitor, DnsMonitorInput } from "@scheduling/sdk"
import type { FactsByName } from "../../ui/layout/Page.tsx"
import { LineList } from "../checks/checkFacts.tsx"
import { checkPages } from "../checks/checkPages.tsx"
import {
  DnsFields,
  dnsInputOf,
  type DnsValues,
  dnsValuesOf,
  dnsMatchLabels,
  newDnsValues
} from "./DnsFields.tsx"
import { DnsPreview } from "./DnsPreview.tsx"

const factsOf = (monitor: DnsMonitor): FactsByName => ({
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

export const dnsPages = checkPages<DnsMonitor, DnsValues, DnsMonitorInput>({
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
  factsOf
})
