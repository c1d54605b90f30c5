import { FactsSection } from "../../ui/layout/Page.tsx"
import { formatCount, formatDurationOfSeconds } from "../../ui/values/format.ts"
import { type CheckValues, failureThresholdLabels, parsePlaces } from "./checkValues.ts"

const daySeconds = 86_400

/**
 * Shows how often and from where a target would be checked, and how soon an outage would be
 * detected.
 */
export const CheckPreview = ({ values }: { readonly values: CheckValues }) => {
  const { down_when, interval_seconds: interval, places } = values
  const failures = Number(values.confirm_after)
  const successes = Number(values.recover_after)
  const labels = places === null ? [] : parsePlaces(places)
  if (interval === null || interval <= 0) return null
  return (
    <FactsSection
      title="Checks"
      facts={{
        "How often": `Every ${formatDurationOfSeconds(interval)}, ${formatCount(Math.round(daySeconds / interval))} times a day`,
        From:
          places === null
            ? "The service"
            : labels.length === 0
              ? "No place yet"
              : labels.map((place) => place.labels.join(", ")).join(" · "),
        "A check fails": places !== null && `If it fails at ${failureThresholdLabels[down_when]}`,
        "Goes down":
          failures === 1
            ? `At the first failed check, at most ${formatDurationOfSeconds(interval)} after the outage begins`
            : `After ${failures} failures in a row. The first comes at most ${formatDurationOfSeconds(interval)} after the outage begins, the others within seconds`,
        "Up again":
          successes === 1 ? "At the next success" : `After ${successes} successes in a row`
      }}
    />
  )
}
