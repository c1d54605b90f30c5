import type { Check, CheckEvent, HttpMonitor } from "@scheduling/sdk"
import type { ReactNode } from "react"
import type { FactsByName } from "../../ui/layout/Page.tsx"
import { type Column, rowTextClass } from "../../ui/lists/List.tsx"
import { CopyableText } from "../../ui/values/Copy.tsx"
import { capitalize, formatDuration } from "../../ui/values/format.ts"
import { Badge } from "../../ui/values/Status.tsx"
import { RelativeTime, ShortTime, Duration, FullTime } from "../../ui/values/Time.tsx"
import { eventDurationColumn, eventStatusColumn, eventTimeColumn } from "../MonitorEvents.tsx"
import { failureThresholdLabels } from "./checkValues.ts"

export type CheckedMonitor = Pick<
  HttpMonitor,
  | "confirm_after"
  | "created_at"
  | "down_when"
  | "id"
  | "interval_seconds"
  | "last_check"
  | "next_check_at"
  | "places"
  | "recover_after"
  | "timeout_seconds"
>

const ResultBadge = ({
  check: { error, status_code }
}: {
  readonly check: Pick<Check, "error" | "status_code">
}) => (
  <Badge tone={error === null ? "ok" : "bad"}>
    {error === null ? (status_code ?? "ok") : error.code.replaceAll("_", " ")}
  </Badge>
)

const parts = [
  ["dns_ms", "DNS"],
  ["connect_ms", "connecting"],
  ["tls_ms", "TLS"],
  ["wait_ms", "first byte"]
] as const

export const CheckTimings = ({ check }: { readonly check: Check }) => {
  const measured = parts.flatMap(([name, label]) =>
    check[name] === null ? [] : [`${label} ${formatDuration(check[name])}`]
  )
  return (
    <>
      <Duration ms={check.duration_ms} />
      {measured.length > 0 && (
        <span className="block text-sm text-faint">{measured.join(", ")}</span>
      )}
    </>
  )
}

/** Returns what a check measured. */
const measuredFacts = (check: Check): FactsByName => ({
  Duration: check.duration_ms !== null && <CheckTimings check={check} />,
  "Certificate valid until": check.certificate_expires_at !== null && (
    <FullTime at={check.certificate_expires_at} />
  ),
  Response: check.values !== null && <LineList of={check.values} />
})

/** Returns the result of a check and what it measured. */
export const resultFacts = (check: Check): FactsByName => ({
  Result: (
    <>
      <ResultBadge check={check} />
      {check.error !== null && (
        <span className="mt-1 block text-sm break-words text-soft">{check.error.message}</span>
      )}
    </>
  ),
  ...measuredFacts(check)
})

/**
 * Returns the facts shown for every monitor that makes checks. `target` contains the kind's own
 * facts.
 */
export const checkFacts = (monitor: CheckedMonitor, target: FactsByName): FactsByName => {
  const { last_check: check } = monitor
  return {
    // The list of checks shows the whole error.
    Result: check === null ? "Not checked yet" : <ResultBadge check={check} />,
    ...target,
    ...(check !== null && measuredFacts(check)),
    "Last check": <RelativeTime at={check?.at ?? null} />,
    "Next check": <RelativeTime at={monitor.next_check_at} />,
    "Check interval": formatDuration(monitor.interval_seconds * 1_000),
    Timeout: formatDuration(monitor.timeout_seconds * 1_000),
    "Down after": monitor.confirm_after === 1 ? "1 failure" : `${monitor.confirm_after} failures`,
    "Up after": monitor.recover_after === 1 ? "1 success" : `${monitor.recover_after} successes`,
    ...(monitor.places !== null && {
      "Fails at": capitalize(failureThresholdLabels[monitor.down_when])
    }),
    Created: <ShortTime at={monitor.created_at} />,
    Id: <CopyableText text={monitor.id} />
  }
}

export const LineList = ({ of: lines }: { readonly of: ReadonlyArray<ReactNode> }) => (
  <span className="flex flex-col font-mono text-sm break-all">
    {lines.map((line, index) => (
      <span key={index}>{line}</span>
    ))}
  </span>
)

const columns: ReadonlyArray<Column<CheckEvent>> = [
  eventStatusColumn,
  eventTimeColumn,
  {
    key: "what",
    head: "Result",
    className: "grow basis-0",
    belowOnPhone: "plain",
    cell: ({ error, status_code, type }) => (
      <span className="flex items-center gap-2 overflow-hidden">
        {type === "check" || error !== null ? (
          <ResultBadge check={{ error, status_code }} />
        ) : (
          <Badge>{type}</Badge>
        )}
        <span className={`${rowTextClass} text-soft`} title={error?.message}>
          {error?.message}
        </span>
      </span>
    )
  },
  eventDurationColumn
]

export const checkEventList = {
  title: "Checks",
  empty: "No checks yet",
  columns: () => columns
} as const
