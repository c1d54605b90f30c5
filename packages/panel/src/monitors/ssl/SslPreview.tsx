import { FactsSection } from "../../ui/layout/Page.tsx"
import { formatDurationOfSeconds } from "../../ui/values/format.ts"
import type { SslValues } from "./SslFields.tsx"

/** Shows how often the certificate would be checked, and when a notification would be sent. */
export const SslPreview = ({ values }: { readonly values: SslValues }) => {
  const { check_interval_seconds: interval, warn_days } = values
  return (
    <FactsSection
      title="Checks"
      facts={{
        "How often":
          interval !== null && interval > 0 && `Every ${formatDurationOfSeconds(interval)}`,
        "Warns before expiry": warn_days.trim() !== "" && `${warn_days} days`,
        "Goes down": "When clients would reject the certificate, or the server does not respond",
        "Also notifies": "When the server presents another certificate"
      }}
    />
  )
}
