import type { ServerCertificate } from "@scheduling/calls/tls/CertificateChain"
import type { TlsLook } from "@scheduling/calls/tls/TlsProbe"
import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { SslVerification } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { dayMs } from "../../core/index.ts"

export interface SslState {
  readonly status: "new" | "up" | "warning" | "down" | "paused"
  /** Looks in a row without a certificate. */
  readonly failures: number
  readonly verification: SslVerification | null
  readonly message: string | null
  /** The latest one that was seen. */
  readonly certificate: ServerCertificate | null
  /** Certificates of late. Behind one name there may be several, which take turns. */
  readonly seen: ReadonlyArray<SeenCertificate>
}

interface SeenCertificate {
  readonly fingerprint: string
  /** Null where nothing was told of its end. */
  readonly told_days: number | null
}

export interface SslRules {
  readonly warn_days: ReadonlyArray<number>
  readonly check_interval_seconds: number
}

export interface LookDecision {
  readonly state: SslState
  /** Of one that goes down. */
  readonly cause: IncidentCause | null
  /** A certificate that was not there before. */
  readonly isChanged: boolean
  /** How few days are left, where that is to be told. */
  readonly expiringDays: number | null
  /** Until the next look. */
  readonly afterMs: number
}

/** A certificate that comes back after so many others counts as a new one. */
const maxSeen = 10

/** A server that did not answer may be restarting. */
const secondLookMs = 60_000
const failuresUntilDown = 2

/** Whoever mends a server wants to see that it is well. */
const lookWhileDownMs = 600_000

const withoutCertificate: ReadonlySet<SslVerification> = new Set([
  "handshake_failed",
  "unreachable"
])

/**
 * What becomes of a monitor by a look. One that found a bad certificate is right about it; one that
 * found none has to be confirmed. `chance`, from 0 to 1, spreads looks that began together.
 */
export const decideLook = (
  rules: SslRules,
  before: SslState,
  look: TlsLook,
  nowMs: number,
  chance: number
): LookDecision => {
  const found = look.certificate
  const known = before.seen.find(({ fingerprint }) => fingerprint === found?.fingerprint_sha256)
  const left = found === null ? undefined : warning(rules, found, nowMs)
  const expiringDays = left !== undefined && left < (known?.told_days ?? Infinity) ? left : null
  const failures = withoutCertificate.has(look.verification) ? before.failures + 1 : 0
  const status = statusAfter(before, look, failures, left)
  const afterMs =
    failures > 0 && failures < failuresUntilDown && status !== "down"
      ? secondLookMs
      : status === "down"
        ? Math.min(lookWhileDownMs, rules.check_interval_seconds * 1000)
        : rules.check_interval_seconds * (900 + 200 * chance)
  return {
    state: {
      status,
      failures,
      verification: look.verification,
      message: look.message,
      certificate: found ?? before.certificate,
      seen:
        found === null
          ? before.seen
          : [
              {
                fingerprint: found.fingerprint_sha256,
                told_days: expiringDays ?? known?.told_days ?? null
              },
              ...before.seen.filter((one) => one !== known)
            ].slice(0, maxSeen)
    },
    cause:
      status === "down" && before.status !== "down" && look.verification !== "ok"
        ? { code: look.verification, message: look.message ?? look.verification }
        : null,
    isChanged: found !== null && known === undefined && before.seen.length > 0,
    expiringDays,
    // The moment at which it expires is one to look at.
    afterMs: found === null ? afterMs : Math.min(afterMs, untilExpiry(found, nowMs))
  }
}

// ---------------------------------------------------------------------------

const statusAfter = (
  { status }: SslState,
  { verification }: TlsLook,
  failures: number,
  left: number | undefined
): SslState["status"] => {
  if (verification === "ok") return left === undefined ? "up" : "warning"
  return failures > 0 && failures < failuresUntilDown ? status : "down"
}

/**
 * The least of the days that has been reached by any certificate of the chain. One that lives for a
 * week would be told all its life: its days count from its last third.
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
