import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import {
  type CheckError,
  type CheckErrorCode,
  checkErrorCodes
} from "@scheduling/domain/monitors/checks/Check"
import { nothingMeasured } from "./checkedKind.ts"
import type { CheckOutcome } from "./Checks.ts"

/** Turns the reason of a failed check into a sentence. */
export const checkError = (code: CheckErrorCode, reason: string): CheckError => ({
  code,
  message: `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`
})

const rejectedAddress = checkError(
  "address_refused",
  "the service may not connect to this address. Its operator can allow networks with EGRESS_ALLOW"
)

/**
 * The outcome for a forbidden address. It has no measurements, because durations would reveal what
 * a name resolves to.
 */
export const rejectedOutcome: CheckOutcome = {
  result: { ...nothingMeasured, error: rejectedAddress },
  host: null,
  isUnreached: false
}

/**
 * A forbidden address always gives the same message, so that a monitor reveals nothing about
 * private networks.
 */
export const fromCallError = ({ code, message }: ExecutionError): CheckError => {
  const known = checkErrorCodes.find((one) => one === code) ?? "internal"
  return known === "address_refused" ? rejectedAddress : checkError(known, message)
}
