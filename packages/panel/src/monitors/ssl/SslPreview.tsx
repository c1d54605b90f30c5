import { Card, Facts, FactsSection } from "../../ui/layout/Page.tsx"
import { formatDurationOfSeconds } from "../../ui/values/format.ts"
import { Duration } from "../../ui/values/Time.tsx"
import { MonitorTester } from "../MonitorTester.tsx"
import { CertificateFacts } from "./CertificateFacts.tsx"
import { sslInputOf, type SslValues } from "./SslFields.tsx"
import { VerificationResult } from "./VerificationResult.tsx"

/**
 * Shows how often the certificate would be checked and when a notification would be sent, and tests
 * it.
 */
export const SslPreview = ({ values }: { readonly values: SslValues }) => {
  const { check_interval_seconds: interval, warn_days } = values
  return (
    <>
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
      <MonitorTester
        values={values}
        inputOf={sslInputOf}
        resource={({ sslMonitors }) => sslMonitors}
        hindrance={values.host.trim() === "" ? "Enter a host first." : undefined}
      >
        {({ certificate, duration_ms, verification, verification_message }) => (
          <>
            <Card className="p-5">
              <Facts
                facts={{
                  Result: (
                    <VerificationResult
                      verification={verification}
                      message={verification_message}
                    />
                  ),
                  Duration: <Duration ms={duration_ms} />
                }}
              />
            </Card>
            {certificate !== null && <CertificateFacts certificate={certificate} />}
          </>
        )}
      </MonitorTester>
    </>
  )
}
