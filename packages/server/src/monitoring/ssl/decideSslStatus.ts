import { findExpired, type ServerCertificate } from "@scheduling/calls/tls/CertificateChain"
import type { TlsCheckResult } from "@scheduling/calls/tls/TlsProbe"
import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { SslVerification } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { dayMs } from "../../core/index.ts"

export interface SslState {
  readonly status: "new" | "up" | "warning" | "down" | "paused"
  /** The number of consecutive checks that received no certificate, up to what makes it down. */
  readonly failures: number
  readonly verification: SslVerification | null
  readonly message: string | null
  readonly certificate: ServerCertificate | null
  /** The latest distinct certificates. The servers behind one host can have different ones. */
  readonly seen: ReadonlyArray<SeenCertificate>
}

interface SeenCertificate {
  readonly fingerprint: string
  /**
   * The number of remaining days when the expiry was last announced. Null if it was not announced.
   */
  readonly announced_days: number | null
}

export interface SslRules {
  readonly warn_days: ReadonlyArray<number>
  readonly check_interval_seconds: number
}

export interface SslStatusDecision {
  readonly state: SslState
  /** Set when the status becomes `down`. */
  readonly cause: IncidentCause | null
  /** True if the server sent a certificate that is not in `seen`. */
  readonly isChanged: boolean
  /** The threshold of `warn_days` that must be announced now. Null if there is none. */
  readonly expiringDays: number | null
  readonly nextCheckMs: number
}

/**
 * The maximum number of remembered certificates. If a forgotten certificate is seen again, it
 * counts as new.
 */
const maxSeen = 10

/** The delay of the check that confirms a failure. It gives a server time to restart. */
const secondCheckMs = 60_000
const failuresUntilDown = 2

/**
 * The interval of checks while the monitor is down. It is short, so that people who repair a server
 * soon see that it works again.
 */
const checkWhileDownMs = 600_000

const withoutCertificate: ReadonlySet<SslVerification> = new Set([
  "handshake_failed",
  "unreachable"
])

/**
 * Decides the status from the result of a check. A bad certificate counts immediately. If the
 * server sent no certificate, a second check must confirm the failure. `chance`, a random number
 * from 0 to 1, spreads checks that started together.
 */
export const decideSslStatus = (
  rules: SslRules,
  before: SslState,
  check: TlsCheckResult,
  nowMs: number,
  chance: number
): SslStatusDecision => {
  const found = check.certificate
  const known = before.seen.find(({ fingerprint }) => fingerprint === found?.fingerprint_sha256)
  const threshold = found === null ? undefined : reachedThreshold(rules, found, nowMs)
  const expiringDays =
    threshold !== undefined && threshold < (known?.announced_days ?? Infinity) ? threshold : null
  const failures = withoutCertificate.has(check.verification)
    ? Math.min(before.failures + 1, failuresUntilDown)
    : 0
  const status = statusAfter(before, check, failures, threshold)
  const nextCheckMs =
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
        ? causeOf(check.verification, check, nowMs)
        : null,
    isChanged: found !== null && known === undefined && before.seen.length > 0,
    expiringDays,
    // The next check is no later than the expiry of the certificate.
    nextCheckMs: found === null ? nextCheckMs : Math.min(nextCheckMs, untilExpiry(found, nowMs))
  }
}

const causeOf = (
  code: Exclude<SslVerification, "ok">,
  { certificate, message }: TlsCheckResult,
  nowMs: number
): IncidentCause => {
  const expired =
    code === "expired" && certificate !== null ? findExpired(certificate, nowMs) : undefined
  return {
    code,
    message: message ?? code,
    ...(expired !== undefined && {
      certificate_expires_at: new Date(expired.valid_to).toISOString()
    })
  }
}

const statusAfter = (
  { status }: SslState,
  { verification }: TlsCheckResult,
  failures: number,
  threshold: number | undefined
): SslState["status"] => {
  if (verification === "ok") return threshold === undefined ? "up" : "warning"
  return failures > 0 && failures < failuresUntilDown ? status : "down"
}

/**
 * Returns the smallest of `warn_days` that any certificate of the chain has reached. Warnings begin
 * in the last third of a certificate's validity. Otherwise, a certificate that is valid for a week
 * would cause warnings from its first day.
 */
const reachedThreshold = (
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
