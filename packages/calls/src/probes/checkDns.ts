import { parseResolver } from "@scheduling/domain/monitors/dns/DnsMonitor"
import type { CheckError } from "@scheduling/domain/monitors/checks/Check"
import type { CheckTarget } from "@scheduling/domain/workers/WorkerProtocol"
import { Effect } from "effect"
import {
  checkError,
  type CheckOutcome,
  toCheckError,
  noMeasurements,
  rejectedOutcome
} from "./checkErrors.ts"
import { DnsProbe } from "./DnsProbe.ts"

type DnsTarget = Extract<CheckTarget, { readonly kind: "dns" }>

const shownValues = 20

/** Creates the check that looks up records and compares them with the expected ones. */
export const makeCheckDns = Effect.map(DnsProbe, (probe) =>
  Effect.fnUntraced(function* (
    target: DnsTarget,
    timeout_seconds: number
  ): Effect.fn.Return<CheckOutcome> {
    const { duration_ms, error, isAnswered, values } = yield* probe.run({
      ...target,
      timeout_seconds
    })
    if (error?.code === "address_refused") return rejectedOutcome
    return {
      result: {
        ...noMeasurements,
        error: error === null ? problemOf(target, values) : toCheckError(error),
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

/**
 * Returns a name or address in a form that can be compared: in lower case, without a final dot, and
 * with an IPv6 address in its canonical spelling.
 */
const normalValue = (type: DnsTarget["record_type"], value: string): string => {
  if (type === "TXT" || type === "CAA") return value
  const lowerCase = value.toLowerCase().replace(/\.$/, "")
  return type === "AAAA" && URL.canParse(`http://[${lowerCase}]/`)
    ? new URL(`http://[${lowerCase}]/`).hostname
    : lowerCase
}
