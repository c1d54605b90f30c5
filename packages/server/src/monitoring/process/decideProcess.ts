import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { ProcessReport } from "@scheduling/domain/monitors/process/ProcessMonitor"
import { agentLeaseMs, agentsBackMs } from "../../engine/index.ts"

export interface ProcessRules {
  /** Null if all workers with the labels are watched. */
  readonly worker_id: string | null
  readonly judge: "each" | "together"
  readonly min_count: number
  readonly max_count: number | null
  readonly max_rss_bytes: number | null
  readonly max_cpu_percent: number | null
  readonly interval_seconds: number
  readonly grace_seconds: number
}

/** The rule that is broken, and since when. */
export interface Failing {
  readonly sinceMs: number
  readonly cause: IncidentCause
}

export interface ProcessState {
  readonly status: "new" | "up" | "down"
  /** When the current rules began to apply. */
  readonly sinceMs: number
  /** The rule that all workers together break. Null while all rules hold. */
  readonly failing: Failing | null
}

type Counted = Pick<ProcessReport, "count" | "rss_bytes" | "cpu_percent" | "refused">

/** What the workers have reported. */
export interface ReportSummary {
  /** The time of the latest report of any worker. */
  readonly atMs: number | null
  /** The sum of the reports of workers that count. Null if there is none. */
  readonly together: Counted | null
  /** The rule that any worker has broken for the longest time. */
  readonly failing: Failing | null
}

export interface ProcessDecision {
  readonly state: ProcessState
  /** When to decide again without a report. Null: only after a report. */
  readonly checkAtMs: number | null
  /** Set when the status becomes `down`. */
  readonly cause: IncidentCause | null
}

/** The rule that a report breaks. `before` is the result of the previous report. */
export const judgeReport = (
  rules: ProcessRules,
  before: Failing | null,
  report: Counted,
  nowMs: number
): Failing | null => {
  const cause = brokenRule(rules, report)
  return cause === null ? null : { sinceMs: before?.sinceMs ?? nowMs, cause }
}

/**
 * Decides the status of a monitor. A rule has to be broken for the whole grace. After the service was
 * away, agents get time to come back and to report before the monitor goes down.
 */
export const decideProcess = (
  rules: ProcessRules,
  before: ProcessState,
  reported: ReportSummary,
  nowMs: number,
  awayUntilMs = -Infinity
): ProcessDecision => {
  const { sinceMs, status } = before
  const ofMany = rules.worker_id === null
  const areTogether = ofMany && rules.judge === "together"
  const failing = !areTogether
    ? reported.failing
    : reported.together === null
      ? before.failing
      : judgeReport(rules, before.failing, reported.together, nowMs)
  const backAtMs = awayUntilMs + agentsBackMs + rules.interval_seconds * 1_000
  const reportedAtMs = Math.max(sinceMs, reported.atMs ?? sinceMs)
  const silentAtMs = Math.max(reportedAtMs + silentAfterMs(rules), backAtMs)
  const downAtMs =
    failing === null ? Infinity : Math.max(failing.sinceMs + rules.grace_seconds * 1_000, backAtMs)
  const isSilent = nowMs >= silentAtMs
  const isDown = isSilent || nowMs >= downAtMs
  const isWell = !isDown && failing === null && reported.together !== null
  const next = isDown ? "down" : isWell ? "up" : status
  // A worker that goes offline stops counting, and sends no report about it.
  const changesWithoutReport = ofMany && (areTogether || next === "down")
  const againAtMs = changesWithoutReport ? nowMs + rules.interval_seconds * 1_000 : silentAtMs
  return {
    state: { status: next, sinceMs, failing: areTogether ? failing : null },
    checkAtMs: isSilent ? null : Math.min(isDown ? Infinity : downAtMs, againAtMs, silentAtMs),
    cause:
      next !== "down" || status === "down"
        ? null
        : failing !== null && nowMs >= downAtMs
          ? failing.cause
          : silence(ofMany)
  }
}

/** Reports come with the agent's beats, so they may be as late as a beat may be. */
export const silentAfterMs = ({
  grace_seconds,
  interval_seconds
}: Pick<ProcessRules, "interval_seconds" | "grace_seconds">): number =>
  (interval_seconds + grace_seconds) * 1_000 + agentLeaseMs

/** Whether a report may change the status, so that the decision does not wait for `check_at`. */
export const isDecisionDue = (
  { grace_seconds, worker_id }: Pick<ProcessRules, "grace_seconds" | "worker_id">,
  { checkAtMs, status }: { readonly checkAtMs: number | null; readonly status: string },
  { failing, isNew }: { readonly failing: Failing | null; readonly isNew: boolean },
  nowMs: number
): boolean => {
  if (status === "new" || checkAtMs === null) return true
  // Otherwise every report would ask for a decision while one of many workers breaks a rule.
  if (status === "down") return failing === null && (worker_id !== null || isNew)
  if (failing === null) return false
  const downAtMs = failing.sinceMs + grace_seconds * 1_000
  return nowMs >= downAtMs || checkAtMs > downAtMs
}

const silence = (ofMany: boolean): IncidentCause => ({
  code: "worker_offline",
  message: ofMany
    ? "no worker with its labels has reported for too long"
    : "the worker has not reported for too long"
})

/** The first rule that the report breaks. No rule holds if the agent did not look at the processes. */
export const brokenRule = (rules: ProcessRules, report: Counted): IncidentCause | null => {
  const { count, cpu_percent, refused, rss_bytes } = report
  const { max_count, max_cpu_percent, max_rss_bytes, min_count } = rules
  if (refused !== undefined) {
    return {
      code: refused,
      message:
        "the agent may not look for this text in command lines: start it with --watch-command and exactly this text"
    }
  }
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
