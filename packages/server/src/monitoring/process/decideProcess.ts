import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { ProcessReport } from "@scheduling/domain/monitors/process/ProcessMonitor"
import { agentLeaseMs, agentReconnectMs } from "../../engine/index.ts"

export interface ProcessRules {
  /** Null if the monitor watches all workers with its labels. */
  readonly worker_id: string | null
  readonly judge: "each" | "together"
  readonly min_count: number
  readonly max_count: number | null
  readonly max_rss_bytes: number | null
  readonly max_cpu_percent: number | null
  readonly interval_seconds: number
  readonly grace_seconds: number
}

export interface Failing {
  readonly sinceMs: number
  readonly cause: IncidentCause
}

export interface ProcessState {
  readonly status: "new" | "up" | "down"
  /** The time from which the current rules apply. */
  readonly sinceMs: number
  /** The rule that the sum of all workers breaks. Null while all rules hold. */
  readonly failing: Failing | null
}

type Counted = Pick<ProcessReport, "count" | "rss_bytes" | "cpu_percent" | "refused">

export interface ReportSummary {
  readonly atMs: number | null
  /** The sum of the reports of all counted workers. Null if no worker counts. */
  readonly total: Counted | null
  /** The rule that any worker has broken for the longest time. */
  readonly failing: Failing | null
}

export interface ProcessDecision {
  readonly state: ProcessState
  /**
   * The time at which the status must be decided again without a report. Null if only a report can
   * change it.
   */
  readonly checkAtMs: number | null
  /** Set when the status becomes `down`. */
  readonly cause: IncidentCause | null
}

/** Returns the rule that a report breaks. `before` is the result of the previous report. */
export const evaluateReport = (
  rules: ProcessRules,
  before: Failing | null,
  report: Counted,
  nowMs: number
): Failing | null => {
  const cause = brokenRule(rules, report)
  return cause === null ? null : { sinceMs: before?.sinceMs ?? nowMs, cause }
}

/**
 * Decides the status of a monitor. A rule counts as broken only after the grace period. After an
 * outage of the service, agents get time to reconnect and report before the monitor goes down.
 */
export const decideProcess = (
  rules: ProcessRules,
  before: ProcessState,
  summary: ReportSummary,
  nowMs: number,
  awayUntilMs = -Infinity
): ProcessDecision => {
  const { sinceMs, status } = before
  const hasManyWorkers = rules.worker_id === null
  const sumsWorkers = hasManyWorkers && rules.judge === "together"
  const failing = !sumsWorkers
    ? summary.failing
    : summary.total === null
      ? before.failing
      : evaluateReport(rules, before.failing, summary.total, nowMs)
  const backAtMs = awayUntilMs + agentReconnectMs + rules.interval_seconds * 1_000
  const reportedAtMs = Math.max(sinceMs, summary.atMs ?? sinceMs)
  const silentAtMs = Math.max(reportedAtMs + silentAfterMs(rules), backAtMs)
  const downAtMs =
    failing === null ? Infinity : Math.max(failing.sinceMs + rules.grace_seconds * 1_000, backAtMs)
  const isSilent = nowMs >= silentAtMs
  const isDown = isSilent || nowMs >= downAtMs
  const isHealthy = !isDown && failing === null && summary.total !== null
  const next = isDown ? "down" : isHealthy ? "up" : status
  // A worker that goes offline sends no report and no longer counts, so such a monitor must be
  // decided at an interval.
  const needsPolling = hasManyWorkers && (sumsWorkers || next === "down")
  const pollAtMs = needsPolling ? nowMs + rules.interval_seconds * 1_000 : silentAtMs
  return {
    state: { status: next, sinceMs, failing: sumsWorkers ? failing : null },
    checkAtMs: isSilent ? null : Math.min(isDown ? Infinity : downAtMs, pollAtMs, silentAtMs),
    cause:
      next !== "down" || status === "down"
        ? null
        : failing !== null && nowMs >= downAtMs
          ? failing.cause
          : silenceCause(hasManyWorkers)
  }
}

/**
 * Returns the number of milliseconds without a report after which a worker counts as silent. An
 * agent sends its reports with its heartbeat to the service, so they can be as late as that.
 */
export const silentAfterMs = ({
  grace_seconds,
  interval_seconds
}: Pick<ProcessRules, "interval_seconds" | "grace_seconds">): number =>
  (interval_seconds + grace_seconds) * 1_000 + agentLeaseMs

/**
 * Returns whether a report can change the status. If so, the decision does not wait for `check_at`.
 */
export const canChangeStatus = (
  { grace_seconds, worker_id }: Pick<ProcessRules, "grace_seconds" | "worker_id">,
  { checkAtMs, status }: { readonly checkAtMs: number | null; readonly status: string },
  { failing, isNew }: { readonly failing: Failing | null; readonly isNew: boolean },
  nowMs: number
): boolean => {
  if (status === "new" || checkAtMs === null) return true
  // While one of many workers breaks a rule, deciding after each report would be too expensive.
  if (status === "down") return failing === null && (worker_id !== null || isNew)
  if (failing === null) return false
  const downAtMs = failing.sinceMs + grace_seconds * 1_000
  return nowMs >= downAtMs || checkAtMs > downAtMs
}

const silenceCause = (hasManyWorkers: boolean): IncidentCause => ({
  code: "worker_offline",
  message: hasManyWorkers
    ? "No worker with the labels of the monitor has reported for too long."
    : "The worker has not reported for too long."
})

/**
 * Returns the first rule that the report breaks. A report that could not count the processes also
 * breaks a rule.
 */
export const brokenRule = (rules: ProcessRules, report: Counted): IncidentCause | null => {
  const { count, cpu_percent, refused, rss_bytes } = report
  const { max_count, max_cpu_percent, max_rss_bytes, min_count } = rules
  if (refused !== undefined) {
    return {
      code: refused,
      message:
        "The agent is not allowed to search command lines for this text. Start it with --watch-command and exactly this text."
    }
  }
  if (count < min_count) {
    return {
      code: "too_few",
      message: `${count} matching processes run; the minimum is ${min_count}.`
    }
  }
  if (max_count !== null && count > max_count) {
    return {
      code: "too_many",
      message: `${count} matching processes run; the maximum is ${max_count}.`
    }
  }
  if (max_rss_bytes !== null && rss_bytes > max_rss_bytes) {
    return {
      code: "too_much_memory",
      message: `The matching processes use ${rss_bytes} bytes of memory; the maximum is ${max_rss_bytes}.`
    }
  }
  if (max_cpu_percent !== null && cpu_percent !== null && cpu_percent > max_cpu_percent) {
    return {
      code: "too_much_cpu",
      message: `The matching processes use ${cpu_percent} % of a core; the maximum is ${max_cpu_percent} %.`
    }
  }
  return null
}
