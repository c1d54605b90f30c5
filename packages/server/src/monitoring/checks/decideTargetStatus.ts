import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { CheckError } from "@scheduling/domain/monitors/checks/Check"
import type { CheckedColumns, CheckedStatus } from "./CheckedRow.ts"

/** The state of a monitor whose target is checked periodically. */
export type TargetState = Pick<CheckedColumns, "failures" | "successes"> & {
  readonly status: CheckedStatus
}

export type TargetStatusRules = Pick<
  CheckedColumns,
  "confirm_after" | "interval_seconds" | "recover_after"
>

export interface TargetStatusDecision extends TargetState {
  /** Set when the status becomes `down`. */
  readonly cause: IncidentCause | null
  /** True if the next check follows within seconds, to confirm this one. */
  readonly isToBeConfirmed: boolean
}

/** The delay of the check that confirms a failure or a recovery. */
export const confirmationDelayMs = 3_000

/** Decides the status after a check. `error` is null if the check succeeded. */
export const decideTargetStatus = (
  rules: TargetStatusRules,
  before: TargetState,
  error: CheckError | null
): TargetStatusDecision => {
  const wasDown = before.status === "down"
  if (error === null) {
    const successes = wasDown ? before.successes + 1 : 0
    const recovers = !wasDown || successes >= rules.recover_after
    return {
      status: recovers ? "up" : "down",
      failures: 0,
      successes: recovers ? 0 : successes,
      cause: null,
      isToBeConfirmed: !recovers
    }
  }
  const failures = Math.min(before.failures + 1, mostCounted)
  const fails = wasDown || failures >= rules.confirm_after
  return {
    status: fails ? "down" : before.status,
    failures,
    successes: 0,
    cause: fails && !wasDown ? error : null,
    isToBeConfirmed: !fails
  }
}

/**
 * The decision after a failure that this node itself may have caused. The status stays as it is, and
 * the next check follows within seconds.
 */
export const decisionAfterDoubtfulCheck = ({
  failures,
  status,
  successes
}: TargetState): TargetStatusDecision => ({
  status,
  failures,
  successes,
  cause: null,
  isToBeConfirmed: true
})

/** The maximum value of `failures`, because the column is a smallint. */
const mostCounted = 30_000

/**
 * Returns the time of the next regular check after `afterMs`. Each monitor has its own offset, so that
 * many monitors' checks are spread over the interval.
 */
export const nextRegularCheckMs = (
  monitorId: string,
  intervalSeconds: number,
  afterMs: number
): number => {
  const intervalMs = intervalSeconds * 1_000
  // The end of a UUID v7 is random, so offsets are spread evenly.
  const offset = Number.parseInt(monitorId.slice(-12), 16) % intervalMs
  return (Math.floor((afterMs - offset) / intervalMs) + 1) * intervalMs + offset
}
