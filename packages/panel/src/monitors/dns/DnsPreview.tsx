import { CheckPreview } from "../checks/CheckPreview.tsx"
import { CheckTester } from "../checks/CheckTester.tsx"
import { dnsInputOf, type DnsValues } from "./DnsFields.tsx"

/** Shows how the records would be checked, and tests them. */
export const DnsPreview = ({ values }: { readonly values: DnsValues }) => (
  <>
    <CheckPreview values={values} />
    <CheckTester
      values={values}
      inputOf={dnsInputOf}
      resource={({ dnsMonitors }) => dnsMonitors}
      hindrance={values.host.trim() === "" ? "Enter a host first." : undefined}
    />
  </>
)
