import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { ProcessReport } from "@scheduling/domain/monitors/process/ProcessMonitor"
import { agentLeaseMs } from "../../queue/Nodes.ts"

export interface ProcessRules {
  readonly min_count: number
  readonly max_count: number | null
  readonly max_rss_bytes: number | null
  readonly max_cpu_percent: number | null
  readonly interval_seconds: number
  readonly grace_seconds: number
}

export interface ProcessState {
  readonly status: "new" | "up" | "down"
  /** Since when a rule is broken, and which. Null while all hold. */
  readonly failing: { readonly sinceMs: number; readonly cause: IncidentCause } | null
}

export interface ProcessDecision {
  readonly state: ProcessState
  /** When it is decided again, if no report comes before. */
  readonly checkAtMs: number
  /** Why it goes down now. */
  readonly cause: IncidentCause | null
}

/** What becomes of a monitor by a report. A rule has to be broken for as long as the grace. */
export const decideReport = (
  rules: ProcessRules,
  before: ProcessState,
  report: ProcessReport,
  nowMs: number
): ProcessDecision => {
  const broken = brokenRule(rules, report)
  const failing =
    broken === null ? null : { sinceMs: before.failing?.sinceMs ?? nowMs, cause: broken }
  const silentAtMs = nowMs + silentAfterMs(rules)
  if (failing === null) {
    return { state: { status: "up", failing }, checkAtMs: silentAtMs, cause: null }
  }
  const downAtMs = failing.sinceMs + rules.grace_seconds * 1_000
  const isDown = before.status === "down" || nowMs >= downAtMs
  return {
    state: { status: isDown ? "down" : before.status, failing },
    checkAtMs: isDown ? silentAtMs : Math.min(downAtMs, silentAtMs),
    cause: isDown && before.status !== "down" ? failing.cause : null
  }
}

/** Reports come with beats, so one may be late by as much as a worker may be silent. */
export const silentAfterMs = ({
  grace_seconds,
  interval_seconds
}: Pick<ProcessRules, "interval_seconds" | "grace_seconds">): number =>
  (interval_seconds + grace_seconds) * 1_000 + agentLeaseMs

const silence: IncidentCause = {
  code: "worker_offline",
  message: "nothing was heard of the worker for too long"
}

/** What becomes of a monitor whose time is up without a report. */
export const decideSilence = (
  { grace_seconds }: ProcessRules,
  { failing, status }: ProcessState,
  nowMs: number
): Pick<ProcessDecision, "state" | "cause"> => {
  const wasBroken = failing !== null && nowMs >= failing.sinceMs + grace_seconds * 1_000
  return {
    state: { status: "down", failing },
    cause: status === "down" ? null : wasBroken ? failing.cause : silence
  }
}

/** The first rule that the report breaks. */
export const brokenRule = (rules: ProcessRules, report: ProcessReport): IncidentCause | null => {
  const { count, cpu_percent, rss_bytes } = report
  const { max_count, max_cpu_percent, max_rss_bytes, min_count } = rules
  if (count < min_count) {
    return {
      code: "too_few",
      message: `${count} matching processes run, and at least ${min_count} should`
    }
  }
  if (max_count !== null && count > max_count) {
    return {
      code: "too_many",
      message: `${count} matching processes run, and at most ${max_count} should`
    }
  }
  if (max_rss_bytes !== null && rss_bytes > max_rss_bytes) {
    return { code: "too_much_memory", message: `they have ${rss_bytes} bytes of memory` }
  }
  if (max_cpu_percent !== null && cpu_percent !== null && cpu_percent > max_cpu_percent) {
    return { code: "too_much_cpu", message: `they take ${cpu_percent} % of a core` }
  }
  return null
}
