import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import {
  type CheckError,
  type CheckErrorCode,
  checkErrorCodes,
  type CheckResult
} from "@scheduling/domain/monitors/checks/Check"

/** The outcome of checking a target. */
export interface CheckOutcome {
  readonly result: CheckResult
  /** The host to which the check connected. Null if nothing was sent. */
  readonly host: string | null
  /** True if nothing was received from the network, see `isTargetUnreached`. */
  readonly isUnreached: boolean
}

/** The fields of a check without measurements. */
export const noMeasurements: CheckResult = {
  error: null,
  duration_ms: null,
  dns_ms: null,
  connect_ms: null,
  tls_ms: null,
  wait_ms: null,
  status_code: null,
  certificate_expires_at: null,
  values: null
}

/** Turns the reason why a check failed into the error's message. */
export const checkError = (code: CheckErrorCode, reason: string): CheckError => ({
  code,
  message: `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`
})

const rejectedAddress = checkError(
  "address_refused",
  "the service may not connect to this address. Its operator can allow networks with EGRESS_ALLOW"
)

/** The outcome of a check for which nothing was sent. */
export const notSentOutcome = (error: CheckError): CheckOutcome => ({
  result: { ...noMeasurements, error },
  host: null,
  isUnreached: false
})

/**
 * The outcome of a check whose address is forbidden. It has no measurements, because durations
 * would reveal the address to which a name resolves.
 */
export const rejectedOutcome: CheckOutcome = notSentOutcome(rejectedAddress)

/**
 * A forbidden address always gives the same message, so that a monitor reveals nothing about
 * private networks.
 */
export const toCheckError = ({ code, message }: ExecutionError): CheckError => {
  const known = checkErrorCodes.find((one) => one === code) ?? "internal"
  return known === "address_refused" ? rejectedAddress : checkError(known, message)
}
