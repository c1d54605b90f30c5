import type { ServerCertificate } from "@scheduling/calls/tls/CertificateChain"
import type { TlsCheck } from "@scheduling/calls/tls/TlsProbe"
import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { SslVerification } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { dayMs } from "../../core/index.ts"

export interface SslState {
  readonly status: "new" | "up" | "warning" | "down" | "paused"
  /** Checks in a row that found no certificate. */
  readonly failures: number
  readonly verification: SslVerification | null
  readonly message: string | null
  /** The latest certificate that was seen. */
  readonly certificate: ServerCertificate | null
  /** Certificates that were seen lately. One name may have several, which take turns. */
  readonly seen: ReadonlyArray<SeenCertificate>
}

interface SeenCertificate {
  readonly fingerprint: string
  /** The days that were left when its end was announced. Null if it was not. */
  readonly announced_days: number | null
}

export interface SslRules {
  readonly warn_days: ReadonlyArray<number>
  readonly check_interval_seconds: number
}

export interface CheckDecision {
  readonly state: SslState
  /** Set when the status becomes `down`. */
  readonly cause: IncidentCause | null
  /** The server shows a certificate that was not seen before. */
  readonly isChanged: boolean
  /** The days that are left, if that is to be announced. */
  readonly expiringDays: number | null
  /** The time until the next check. */
  readonly afterMs: number
}

/** A certificate that comes back after so many others counts as a new one. */
const maxSeen = 10

/** A server that did not answer may be restarting. */
const secondCheckMs = 60_000
const failuresUntilDown = 2

/**
 * A monitor that is down is checked more often, so that people who repair a server see soon that it
 * works.
 */
const checkWhileDownMs = 600_000

const withoutCertificate: ReadonlySet<SslVerification> = new Set([
  "handshake_failed",
  "unreachable"
])

/**
 * Decides by the result of a check. A bad certificate counts at once, and a missing one has to be
 * confirmed by a second check. `chance`, from 0 to 1, spreads checks that began together.
 */
export const decideCheck = (
  rules: SslRules,
  before: SslState,
  check: TlsCheck,
  nowMs: number,
  chance: number
): CheckDecision => {
  const found = check.certificate
  const known = before.seen.find(({ fingerprint }) => fingerprint === found?.fingerprint_sha256)
  const left = found === null ? undefined : warning(rules, found, nowMs)
  const expiringDays =
    left !== undefined && left < (known?.announced_days ?? Infinity) ? left : null
  const failures = withoutCertificate.has(check.verification) ? before.failures + 1 : 0
  const status = statusAfter(before, check, failures, left)
  const afterMs =
    failures > 0 && failures < failuresUntilDown && status !== "down"
      ? secondCheckMs
      : status === "down"
        ? Math.min(checkWhileDownMs, rules.check_interval_seconds * 1000)
        : rules.check_interval_seconds * (900 + 200 * chance)
  return {
    state: {
      status,
      failures,
      verification: check.verification,
      message: check.message,
      certificate: found ?? before.certificate,
      seen:
        found === null
          ? before.seen
          : [
              {
                fingerprint: found.fingerprint_sha256,
                announced_days: expiringDays ?? known?.announced_days ?? null
              },
              ...before.seen.filter((one) => one !== known)
            ].slice(0, maxSeen)
    },
    cause:
      status === "down" && before.status !== "down" && check.verification !== "ok"
        ? { code: check.verification, message: check.message ?? check.verification }
        : null,
    isChanged: found !== null && known === undefined && before.seen.length > 0,
    expiringDays,
    // The next check is not later than the moment at which the certificate expires.
    afterMs: found === null ? afterMs : Math.min(afterMs, untilExpiry(found, nowMs))
  }
}

// ---------------------------------------------------------------------------

const statusAfter = (
  { status }: SslState,
  { verification }: TlsCheck,
  failures: number,
  left: number | undefined
): SslState["status"] => {
  if (verification === "ok") return left === undefined ? "up" : "warning"
  return failures > 0 && failures < failuresUntilDown ? status : "down"
}

/**
 * The smallest of `warn_days` that any certificate of the chain has reached. A certificate that lives
 * for a week would warn from its first day, so its days count from its last third.
 */
const warning = (
  { warn_days }: SslRules,
  certificate: ServerCertificate,
  nowMs: number
): number | undefined => {
  const reached = warn_days.filter((days) =>
    [certificate, ...certificate.chain].some(
      ({ valid_from, valid_to }) =>
        valid_to - nowMs <= Math.min(days * dayMs, (valid_to - valid_from) / 3)
    )
  )
  return certificate.valid_to < nowMs || reached.length === 0 ? undefined : Math.min(...reached)
}

const untilExpiry = ({ valid_to }: ServerCertificate, nowMs: number): number =>
  valid_to > nowMs ? valid_to - nowMs + 1000 : Infinity
