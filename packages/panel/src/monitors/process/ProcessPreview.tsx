import { FactsSection } from "../../ui/layout/Page.tsx"
import { formatDurationOfSeconds } from "../../ui/values/format.ts"
import type { ProcessValues } from "./ProcessFields.tsx"

/** Shows how often the processes would be checked, and when the monitor would go down. */
export const ProcessPreview = ({ values }: { readonly values: ProcessValues }) => {
  const { grace_seconds: grace, interval_seconds: interval } = values
  return (
    <FactsSection
      title="Checks"
      facts={{
        "How often":
          interval !== null && interval > 0 && `Every ${formatDurationOfSeconds(interval)}`,
        "Goes down":
          grace === null || grace === 0
            ? "At the first check that breaks a rule"
            : `When a rule has been broken for ${formatDurationOfSeconds(grace)}`
      }}
    />
  )
}
