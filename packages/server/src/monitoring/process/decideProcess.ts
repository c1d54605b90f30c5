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

/** A rule that is broken, and since when. */
export interface OngoingFailure {
  readonly sinceMs: number
  readonly cause: IncidentCause
}

export interface ProcessState {
  readonly status: "new" | "up" | "down"
  /** The time since which the current rules apply. */
  readonly sinceMs: number
  /** The rule that the total over all workers breaks. Null if no rule is broken. */
  readonly failing: OngoingFailure | null
}

type Counted = Pick<ProcessReport, "count" | "rss_bytes" | "cpu_percent" | "refused">

/** The latest reports of all workers that a monitor watches. `atMs` is the time of the newest. */
export interface ProcessReportSummary {
  readonly atMs: number | null
  /** The total of all counted workers' reports. Null if no worker counts. */
  readonly total: Counted | null
  /** The rule that any worker has broken for the longest time. */
  readonly failing: OngoingFailure | null
}

export interface ProcessDecision {
  readonly state: ProcessState
  /**
   * When the status must be decided again if no report arrives. Null if only a report can change
   * it.
   */
  readonly checkAtMs: number | null
  /** Set when the status becomes `down`. */
  readonly cause: IncidentCause | null
}

/** Returns the rule that a report breaks. `before` is the result of the previous report. */
export const evaluateProcessReport = (
  rules: ProcessRules,
  before: OngoingFailure | null,
  report: Counted,
  nowMs: number
): OngoingFailure | null => {
  const cause = brokenRule(rules, report)
  return cause === null ? null : { sinceMs: before?.sinceMs ?? nowMs, cause }
}

/**
 * Decides the status of a monitor. A rule counts as broken only after the grace period. After an
 * outage of the service, agents have time to reconnect and report before the monitor goes down.
 */
export const decideProcess = (
  rules: ProcessRules,
  before: ProcessState,
  summary: ProcessReportSummary,
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
      : evaluateProcessReport(rules, before.failing, summary.total, nowMs)
  const backAtMs = awayUntilMs + agentReconnectMs + rules.interval_seconds * 1_000
  const reportedAtMs = Math.max(sinceMs, summary.atMs ?? sinceMs)
  const silentAtMs = Math.max(reportedAtMs + silentAfterMs(rules), backAtMs)
  const downAtMs =
    failing === null ? Infinity : Math.max(failing.sinceMs + rules.grace_seconds * 1_000, backAtMs)
  const isSilent = nowMs >= silentAtMs
  const isDown = isSilent || nowMs >= downAtMs
  const isHealthy = !isDown && failing === null && summary.total !== null
  const next = isDown ? "down" : isHealthy ? "up" : status
  // A worker that goes offline no longer counts, but no report says so. The status of such a
  // monitor must therefore be decided again periodically.
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
 * Returns how many milliseconds without a report make a worker count as silent. An agent sends its
 * reports with its heartbeat, so a report can be delayed until the next heartbeat.
 */
export const silentAfterMs = ({
  grace_seconds,
  interval_seconds
}: Pick<ProcessRules, "interval_seconds" | "grace_seconds">): number =>
  (interval_seconds + grace_seconds) * 1_000 + agentLeaseMs

/**
 * Returns whether a report can change the status, so that the monitor must be decided before
 * `check_at`.
 */
export const canChangeStatus = (
  { grace_seconds, worker_id }: Pick<ProcessRules, "grace_seconds" | "worker_id">,
  { checkAtMs, status }: { readonly checkAtMs: number | null; readonly status: string },
  { failing, isNew }: { readonly failing: OngoingFailure | null; readonly isNew: boolean },
  nowMs: number
): boolean => {
  if (status === "new" || checkAtMs === null) return true
  // While a monitor with many workers is down, a decision after each good report would be too
  // expensive.
  if (status === "down") return failing === null && (worker_id !== null || isNew)
  if (failing === null) return false
  const downAtMs = failing.sinceMs + grace_seconds * 1_000
  return nowMs >= downAtMs || checkAtMs > downAtMs
}

const silenceCause = (hasManyWorkers: boolean): IncidentCause => ({
  code: "worker_offline",
  message: hasManyWorkers
    ? "No worker with the labels of the monitor has reported in time."
    : "The worker has not reported in time."
})

/**
 * Returns the first rule that the report breaks. A report also breaks a rule if the agent's
 * settings did not allow it to count the processes.
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
      message: `${count} matching processes are running; the minimum is ${min_count}.`
    }
  }
  if (max_count !== null && count > max_count) {
    return {
      code: "too_many",
      message: `${count} matching processes are running; the maximum is ${max_count}.`
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
      message: `The matching processes use ${cpu_percent}% of a core; the maximum is ${max_cpu_percent}%.`
    }
  }
  return null
}
