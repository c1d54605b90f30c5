import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { ProcessReport } from "@scheduling/domain/monitors/process/ProcessMonitor"
import { agentLeaseMs, agentsBackMs } from "../../engine/index.ts"

export interface ProcessRules {
  /** Null for all workers with its labels. */
  readonly worker_id: string | null
  readonly judge: "each" | "together"
  readonly min_count: number
  readonly max_count: number | null
  readonly max_rss_bytes: number | null
  readonly max_cpu_percent: number | null
  readonly interval_seconds: number
  readonly grace_seconds: number
}

/** Since when a rule is broken, and which. */
export interface Failing {
  readonly sinceMs: number
  readonly cause: IncidentCause
}

export interface ProcessState {
  readonly status: "new" | "up" | "down"
  /** Since when monitoring began with the rules as they are. */
  readonly sinceMs: number
  /** Of all workers together, if they are judged so. Null while all rules hold. */
  readonly failing: Failing | null
}

type Counted = Pick<ProcessReport, "count" | "rss_bytes" | "cpu_percent" | "refused">

/** What is known of the processes now. */
export interface Heard {
  /** When any of the workers reported last. */
  readonly atMs: number | null
  /** What the workers that count have reported, together. Null if none of them has. */
  readonly together: Counted | null
  /** Of the worker that breaks a rule for longest. */
  readonly failing: Failing | null
}

export interface ProcessDecision {
  readonly state: ProcessState
  /** When it is judged again, if no report asks for it before. Null: only then. */
  readonly checkAtMs: number | null
  /** Why it goes down now. */
  readonly cause: IncidentCause | null
}

/** What a report says of its worker. `before` is what the one before it said. */
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
 * What becomes of a monitor. A rule has to be broken for as long as the grace. After the service was
 * away, agents have the time to come back and to report before anything is concluded.
 */
export const decideProcess = (
  rules: ProcessRules,
  before: ProcessState,
  heard: Heard,
  nowMs: number,
  awayUntilMs = -Infinity
): ProcessDecision => {
  const { sinceMs, status } = before
  const ofMany = rules.worker_id === null
  const areTogether = ofMany && rules.judge === "together"
  const failing = !areTogether
    ? heard.failing
    : heard.together === null
      ? before.failing
      : judgeReport(rules, before.failing, heard.together, nowMs)
  const backAtMs = awayUntilMs + agentsBackMs + rules.interval_seconds * 1_000
  const heardAtMs = Math.max(sinceMs, heard.atMs ?? sinceMs)
  const silentAtMs = Math.max(heardAtMs + silentAfterMs(rules), backAtMs)
  const downAtMs =
    failing === null ? Infinity : Math.max(failing.sinceMs + rules.grace_seconds * 1_000, backAtMs)
  const isSilent = nowMs >= silentAtMs
  const isDown = isSilent || nowMs >= downAtMs
  const isWell = !isDown && failing === null && heard.together !== null
  const next = isDown ? "down" : isWell ? "up" : status
  // Of several workers, those that are offline stop counting without a report.
  const changesUnheard = ofMany && (areTogether || next === "down")
  const againAtMs = changesUnheard ? nowMs + rules.interval_seconds * 1_000 : silentAtMs
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

/** Reports come with beats, so one may be late by as much as a worker may be silent. */
export const silentAfterMs = ({
  grace_seconds,
  interval_seconds
}: Pick<ProcessRules, "interval_seconds" | "grace_seconds">): number =>
  (interval_seconds + grace_seconds) * 1_000 + agentLeaseMs

/** Whether a report may change how its monitor stands, so that it is judged before its time. */
export const asksForJudgement = (
  { grace_seconds, worker_id }: Pick<ProcessRules, "grace_seconds" | "worker_id">,
  { checkAtMs, status }: { readonly checkAtMs: number | null; readonly status: string },
  { failing, isNew }: { readonly failing: Failing | null; readonly isNew: boolean },
  nowMs: number
): boolean => {
  if (status === "new" || checkAtMs === null) return true
  // Each report of many workers would judge it otherwise, for as long as one of them is in trouble.
  if (status === "down") return failing === null && (worker_id !== null || isNew)
  if (failing === null) return false
  const downAtMs = failing.sinceMs + grace_seconds * 1_000
  return nowMs >= downAtMs || checkAtMs > downAtMs
}

const silence = (ofMany: boolean): IncidentCause => ({
  code: "worker_offline",
  message: ofMany
    ? "nothing was heard of any worker with its labels for too long"
    : "nothing was heard of the worker for too long"
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
