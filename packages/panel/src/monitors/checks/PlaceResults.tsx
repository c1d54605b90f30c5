import type { HttpMonitor, PlaceResult } from "@scheduling/sdk"
import { Card, Section } from "../../ui/layout/Page.tsx"
import { Status } from "../../ui/values/Status.tsx"
import { RelativeTime } from "../../ui/values/Time.tsx"
import { CheckTimings } from "./checkFacts.tsx"
import { failureThresholdLabels } from "./checkValues.ts"

const Place = ({ result }: { readonly result: PlaceResult }) => {
  const { checked_at, labels, last_check, reason, status, worker } = result
  return (
    <li className="flex flex-wrap gap-x-5 gap-y-1 px-5 py-4">
      <span className="w-24 shrink-0">
        <Status of={status} />
      </span>
      <span className="min-w-0 grow basis-48">
        <span className="block font-mono text-sm break-all">{labels.join(", ")}</span>
        {reason !== null && <span className="block text-sm break-words text-soft">{reason}</span>}
        {worker !== null && (
          <span className="block text-sm break-words text-faint">Worker: {worker}</span>
        )}
      </span>
      {status !== "unknown" && last_check !== null && last_check.duration_ms !== null && (
        <span className="basis-56 max-sm:ml-29">
          <CheckTimings check={last_check} />
        </span>
      )}
      <span className="w-24 shrink-0 text-sm text-faint max-sm:ml-29 sm:text-right">
        {checked_at !== null && <RelativeTime at={checked_at} />}
      </span>
    </li>
  )
}

/** Says at how many places the target is up, and how many places have no result. */
const summaryOf = (results: ReadonlyArray<PlaceResult>) => {
  const countOf = (status: PlaceResult["status"]) =>
    results.filter((result) => result.status === status).length
  const unknown = countOf("unknown")
  const rest = unknown === 0 ? "" : `, no result from ${unknown}`
  return `Up at ${countOf("up")} of ${results.length} places${rest}.`
}

/** Shows a monitor's latest result at each place. */
export const PlaceResults = ({
  monitor: { down_when, place_results }
}: {
  readonly monitor: Pick<HttpMonitor, "down_when" | "place_results">
}) =>
  place_results.length === 0 ? null : (
    <Section title="Places">
      <Card>
        <p className="border-b border-line px-5 py-3 text-sm text-soft">
          {summaryOf(place_results)} A check fails if it fails at{" "}
          {failureThresholdLabels[down_when]}.
        </p>
        <ul className="divide-y divide-line">
          {place_results.map((result, index) => (
            <Place key={index} result={result} />
          ))}
        </ul>
      </Card>
    </Section>
  )
