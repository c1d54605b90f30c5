import type { IncidentCause } from "@scheduling/domain/incidents/Incident"
import type { HeartbeatEventType } from "@scheduling/domain/monitors/heartbeat/HeartbeatEvent"
import type { MonitorChange } from "../MonitorKind.ts"
import { nextPingDueAt, type HeartbeatRhythm } from "./nextPingDueAt.ts"

/** The settings that decide when a heartbeat goes down. */
export interface HeartbeatRules extends HeartbeatRhythm {
  readonly max_duration_seconds: number | null
  readonly min_interval_seconds: number | null
}

/** The state of a heartbeat. Times are in milliseconds since the epoch. */
export interface HeartbeatState {
  readonly status: "new" | "up" | "down" | "paused"
  readonly last_ping_at: number | null
  /**
   * When the latest run began. If the run did not send a start signal, the time of its last ping.
   */
  readonly began_at: number | null
  readonly last_duration_ms: number | null
  readonly expected_at: number | null
  /**
   * The `rid` of the run that finished last. A job that received no response sends its final ping
   * again, which must not count as another run.
   */
  readonly last_rid: string | null
  /** The unfinished runs, oldest first. */
  readonly runs: ReadonlyArray<Run>
}

interface Run {
  readonly rid: string | null
  readonly started_at: number
  /** True if the run has exceeded its maximum duration and the excess was announced. */
  readonly overran: boolean
}

/** What can change the state of a heartbeat: a ping, a user's change, or the passing of time. */
export type HeartbeatSignal =
  | { readonly type: "success" | "start" | "log"; readonly rid: string | null }
  | { readonly type: "fail"; readonly rid: string | null; readonly exit_status: number | null }
  | { readonly type: "pause" | "resume" }
  /** A change of settings. `before` contains the previous settings. */
  | { readonly type: "rules"; readonly before: HeartbeatRules }
  | { readonly type: "time" }

export type HeartbeatChange = MonitorChange<HeartbeatState["status"]>

/** An entry in the history of a heartbeat, which is stored as an event. */
export interface HeartbeatRecord {
  readonly type: HeartbeatEventType
  readonly at: number
  readonly status: HeartbeatState["status"]
  readonly duration_ms: number | null
}

export interface HeartbeatDecision {
  readonly state: HeartbeatState
  /**
   * The status changes, oldest first. A ping causes two changes if an earlier deadline had not been
   * checked yet.
   */
  readonly changes: ReadonlyArray<HeartbeatChange>
  readonly records: ReadonlyArray<HeartbeatRecord>
}

export const newHeartbeatState: HeartbeatState = {
  status: "new",
  last_ping_at: null,
  began_at: null,
  last_duration_ms: null,
  expected_at: null,
  last_rid: null,
  runs: []
}

/**
 * The maximum number of unfinished runs that are remembered. If there are more, the oldest is
 * forgotten.
 */
const maxRuns = 20

/**
 * Decides what a signal changes. Deadlines that passed before the signal are applied first, so that
 * the decision does not depend on when deadlines are checked.
 */
export const decideHeartbeat = (
  rules: HeartbeatRules,
  before: HeartbeatState,
  signal: HeartbeatSignal,
  at: number
): HeartbeatDecision => {
  const passed = applyPassedDeadline(signal.type === "rules" ? signal.before : rules, before, at)
  if (signal.type === "time") return passed
  const { cause = null, state, ...record } = applySignal(rules, passed.state, signal, at)
  const from = passed.state.status
  return {
    state,
    changes:
      from === state.status
        ? passed.changes
        : [...passed.changes, { from, to: state.status, at, cause }],
    records:
      record.type === undefined
        ? passed.records
        : [
            ...passed.records,
            {
              type: record.type,
              at,
              status: state.status,
              duration_ms: record.duration_ms ?? null
            }
          ]
  }
}

/**
 * Returns the time after which the monitor goes down without a further ping. A ping exactly at this
 * time is not late.
 */
export const alertTimeOf = (rules: HeartbeatRules, state: HeartbeatState): number | null => {
  if (!isWatched(state)) return null
  const deadlines = state.runs.flatMap((run) => overrunAt(rules, run) ?? [])
  if (state.expected_at !== null) deadlines.push(state.expected_at + rules.grace_seconds * 1000)
  return deadlines.length === 0 ? null : Math.min(...deadlines)
}

/**
 * Corrects a heartbeat whose times were written before the clock was set back. Afterwards, no time
 * is later than now, and the next ping is due as if the last ping had just arrived.
 */
export const heartbeatAfterClockSetBack = (
  rules: HeartbeatRules,
  state: HeartbeatState,
  at: number
): HeartbeatState => {
  const notLater = (time: number | null) => (time === null ? null : Math.min(time, at))
  return {
    ...state,
    last_ping_at: notLater(state.last_ping_at),
    began_at: notLater(state.began_at),
    expected_at: state.expected_at === null ? null : nextPingDueAt(rules, null, at),
    runs: state.runs.map((run) => ({ ...run, started_at: Math.min(run.started_at, at) }))
  }
}

const isWatched = ({ status }: HeartbeatState): boolean => status === "new" || status === "up"

const overrunAt = ({ max_duration_seconds: limit }: HeartbeatRules, run: Run): number | null =>
  limit === null || run.overran ? null : run.started_at + limit * 1000

/**
 * Applies a deadline that has passed. The change receives the time of the deadline and not the time
 * of the check.
 */
const applyPassedDeadline = (
  rules: HeartbeatRules,
  before: HeartbeatState,
  at: number
): HeartbeatDecision => {
  const due = alertTimeOf(rules, before)
  const state = withOverruns(rules, before, at)
  if (due === null || due >= at) return { state, changes: [], records: [] }
  const overran = before.runs.some((run) => overrunAt(rules, run) === due)
  const cause = overran ? ranLongerThan(rules.max_duration_seconds) : noPingBy(due)
  return {
    state: { ...state, status: "down" },
    changes: [{ from: before.status, to: "down", at: due, cause }],
    records: [{ type: overran ? "overran" : "missed", at: due, status: "down", duration_ms: null }]
  }
}

const withOverruns = (rules: HeartbeatRules, state: HeartbeatState, at: number): HeartbeatState => {
  const isOver = (run: Run) => (overrunAt(rules, run) ?? Infinity) < at
  return state.runs.some(isOver)
    ? { ...state, runs: state.runs.map((run) => (isOver(run) ? { ...run, overran: true } : run)) }
    : state
}

interface SignalEffect {
  readonly state: HeartbeatState
  readonly type?: HeartbeatEventType
  readonly duration_ms?: number | null
  readonly cause?: IncidentCause
}

const applySignal = (
  rules: HeartbeatRules,
  state: HeartbeatState,
  signal: Exclude<HeartbeatSignal, { readonly type: "time" }>,
  at: number
): SignalEffect => {
  switch (signal.type) {
    case "pause":
      return state.status === "paused"
        ? { state }
        : { state: { ...state, status: "paused", expected_at: null, runs: [] }, type: "paused" }
    case "resume":
      return state.status === "paused"
        ? {
            state: { ...state, status: "new", expected_at: expectedAfterResume(rules, state, at) },
            type: "resumed"
          }
        : { state }
    case "rules":
      return { state: applyNewRules(rules, state, at) }
    default:
      break
  }
  if (signal.type === "log" || state.status === "paused") return { state, type: signal.type }
  return signal.type === "start"
    ? { ...start(rules, state, signal.rid, at), type: "start" }
    : { ...end(rules, state, signal, at), type: signal.type }
}

/**
 * Returns when a resumed monitor expects its next ping. Returns null if it has never received one.
 */
const expectedAfterResume = (rules: HeartbeatRules, { last_ping_at }: HeartbeatState, at: number) =>
  last_ping_at === null ? null : nextPingDueAt(rules, null, at)

/**
 * Applies new settings. A period counts from the latest ping, unless the resulting deadline has
 * already passed: then it counts from now. A schedule counts from now.
 */
const applyNewRules = (
  rules: HeartbeatRules,
  state: HeartbeatState,
  at: number
): HeartbeatState => {
  if (state.expected_at === null) return state
  const since = rules.schedule === null ? (state.last_ping_at ?? at) : at
  const expected = nextPingDueAt(rules, null, since)
  return {
    ...state,
    expected_at:
      expected + rules.grace_seconds * 1000 > at ? expected : nextPingDueAt(rules, null, at),
    runs: withOverruns(rules, state, at).runs
  }
}

const start = (
  rules: HeartbeatRules,
  state: HeartbeatState,
  rid: string | null,
  at: number
): SignalEffect => {
  const others = state.runs.filter((run) => run.rid !== rid)
  const isAgain = rid !== null && others.length < state.runs.length
  const fault = isAgain ? undefined : tooSoon(rules, state, at)
  return {
    state: {
      ...state,
      ...(fault === undefined ? {} : { status: "down" as const }),
      began_at: isAgain ? state.began_at : at,
      // Without a maximum duration, only the absence of the next ping shows that a run never
      // finished.
      expected_at:
        rules.max_duration_seconds === null
          ? state.expected_at
          : nextPingDueAt(rules, state.expected_at, at),
      runs: [...others, { rid, started_at: at, overran: false }].slice(-maxRuns)
    },
    ...(fault === undefined ? {} : { cause: fault })
  }
}

const end = (
  rules: HeartbeatRules,
  state: HeartbeatState,
  signal: Extract<HeartbeatSignal, { readonly rid: string | null }>,
  at: number
): SignalEffect => {
  const { rid } = signal
  const run = state.runs.find((one) => one.rid === rid)
  const isAgain = run === undefined && rid !== null && rid === state.last_rid
  // A ping without a `rid` finishes all runs, unless a run without a `rid` is in progress.
  const runs = run === undefined && rid === null ? [] : state.runs.filter((one) => one !== run)
  const begins = run === undefined && !isAgain
  const fault =
    signal.type === "fail"
      ? failedWith(signal.exit_status)
      : begins
        ? tooSoon(rules, state, at)
        : undefined
  const duration_ms = run === undefined ? null : at - run.started_at
  return {
    state: {
      status: fault === undefined ? "up" : "down",
      last_ping_at: at,
      began_at: begins ? at : state.began_at,
      last_duration_ms: duration_ms ?? state.last_duration_ms,
      expected_at: expectedAfterEnd(rules, state, run !== undefined || isAgain, at),
      last_rid: rid,
      runs
    },
    duration_ms,
    ...(fault === undefined ? {} : { cause: fault })
  }
}

/**
 * Returns when the next ping is expected after a run has finished. If runs have a maximum duration,
 * the start of a run counts as the ping of its slot. The end of the run then does not count for the
 * next slot as well, unless that slot was missed during the run.
 */
const expectedAfterEnd = (
  rules: HeartbeatRules,
  state: HeartbeatState,
  wasStarted: boolean,
  at: number
): number => {
  const hasCounted = wasStarted && rules.max_duration_seconds !== null && rules.schedule !== null
  return hasCounted &&
    state.expected_at !== null &&
    state.expected_at + rules.grace_seconds * 1000 >= at
    ? state.expected_at
    : nextPingDueAt(rules, state.expected_at, at)
}

const tooSoon = (
  { min_interval_seconds: least }: HeartbeatRules,
  { began_at }: HeartbeatState,
  at: number
): IncidentCause | undefined =>
  least === null || began_at === null || at - began_at >= least * 1000
    ? undefined
    : beganSoonerThan(least, at - began_at)

// The causes of incidents, as sentences for the people who are notified.

const noPingBy = (due: number): IncidentCause => ({
  code: "missed",
  message: `No ping arrived by ${new Date(due).toISOString()}.`
})

const ranLongerThan = (seconds: number | null): IncidentCause => ({
  code: "overran",
  message: `A run has taken longer than ${seconds} s.`
})

const failedWith = (exitStatus: number | null): IncidentCause => ({
  code: "failed",
  message:
    exitStatus === null
      ? "The job reported a failure."
      : `The job ended with exit status ${exitStatus}.`
})

const beganSoonerThan = (seconds: number, ms: number): IncidentCause => ({
  code: "too_soon",
  message: `A run began ${Math.floor(ms / 1000)} s after the previous one; the minimum is ${seconds} s.`
})
