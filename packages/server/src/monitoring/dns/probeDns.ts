import { DnsProbe } from "@scheduling/calls/probes/DnsProbe"
import { parseResolver } from "@scheduling/domain/monitors/dns/DnsMonitor"
import type { CheckError } from "@scheduling/domain/monitors/checks/Check"
import { Effect } from "effect"
import { nothingMeasured } from "../checks/checkedKind.ts"
import { checkError, fromCallError, rejectedOutcome } from "../checks/checkErrors.ts"
import type { Prober } from "../checks/Checks.ts"
import type { DnsTarget } from "./dnsMonitorKind.ts"

const shownValues = 20

/**
 * Creates the prober that looks up the records of a monitor and compares them with the expected
 * ones.
 */
export const makeProbeDns = Effect.map(DnsProbe, (probe): Prober =>
  Effect.fnUntraced(function* (row) {
    const target = row.target as DnsTarget
    const { timeout_seconds } = row
    const { duration_ms, error, isAnswered, values } = yield* probe.run({
      ...target,
      timeout_seconds
    })
    if (error?.code === "address_refused") return rejectedOutcome
    return {
      result: {
        ...nothingMeasured,
        error: error === null ? problemOf(target, values) : fromCallError(error),
        duration_ms,
        dns_ms: isAnswered ? duration_ms : null,
        values: error === null ? values.slice(0, shownValues) : null
      },
      host: parseResolver(target.resolver ?? "")?.ip ?? target.host,
      isUnreached: !isAnswered
    }
  })
)

const problemOf = (
  { expected_values, match, record_type }: DnsTarget,
  values: ReadonlyArray<string>
): CheckError | null => {
  if (expected_values === null) return null
  const normal = (value: string) => normalValue(record_type, value)
  const found = new Set(values.map(normal))
  const expected = expected_values.map(normal)
  const isKept = {
    all: expected.every((value) => found.has(value)),
    any: expected.some((value) => found.has(value)),
    exactly: found.size === new Set(expected).size && expected.every((value) => found.has(value))
  }
  return isKept[match]
    ? null
    : checkError(
        "response_rule",
        `the answer is ${shown(values)}, and not ${match === "exactly" ? "exactly " : ""}${shown(expected_values, match === "any" ? "or" : "and")}`
      )
}

const namedValues = 5

const shown = (values: ReadonlyArray<string>, joint = "and"): string => {
  const named = values.slice(0, namedValues).map((value) => value.slice(0, 100))
  const rest = values.length - named.length
  const all = rest > 0 ? [...named, `${rest} more`] : named
  return all.length === 1 ? all.join("") : `${all.slice(0, -1).join(", ")} ${joint} ${all.at(-1)}`
}

/** Converts names and addresses to lower case, because they are case-insensitive. */
const normalValue = (type: DnsTarget["record_type"], value: string): string => {
  if (type === "TXT" || type === "CAA") return value
  const lowerCase = value.toLowerCase().replace(/\.$/, "")
  return type === "AAAA" && URL.canParse(`http://[${lowerCase}]/`)
    ? new URL(`http://[${lowerCase}]/`).hostname
    : lowerCase
}
