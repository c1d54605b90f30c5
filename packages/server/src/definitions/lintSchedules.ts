import type { DefinitionFinding } from "@scheduling/domain/definitions/AppliedDefinitions"
import { previewFirings } from "@scheduling/schedules/Firings"
import { intervalOf } from "@scheduling/schedules/Interval"
import { parseValidSchedule } from "@scheduling/schedules/parseScheduleCached"
import { nextSlotInSteps, type SlotRule } from "@scheduling/schedules/slots"
import { visitFirings } from "@scheduling/schedules/visitFirings"
import { offsetPeriodAt } from "@scheduling/schedules/ZoneClock"
import { dayMs } from "../core/index.ts"

/**
 * The fields of a scheduled task or chain that determine when its runs begin and which host they
 * call.
 */
export interface ScheduledDefinition extends SlotRule {
  readonly path: DefinitionFinding["path"]
  /** A cron expression, or an interval as text. */
  readonly schedule: string
  readonly timezone: string
  /** The host of the first call. */
  readonly host: string
  /** True if runs begin exactly at their slots, without jitter or a queue. */
  readonly isPunctual: boolean
}

/**
 * The maximum number of runs that can begin at a host within one minute without being reported as a
 * finding.
 */
export const maxUnreportedRunsPerHost = 30

const yearMs = 365 * dayMs
const weekMs = 7 * dayMs
const minuteMs = 60_000

/**
 * The maximum number of schedule slots to count. Counting this many takes about a second, in steps
 * of a few milliseconds. The remaining schedules are then not counted.
 */
const maxVisits = 5_000_000

/**
 * Finds schedules that probably do not do what their author intended. Yields often, so that other
 * work can run in between.
 */
export function* lintSchedules(
  definitions: ReadonlyArray<ScheduledDefinition>,
  now: number
): Generator<void, ReadonlyArray<DefinitionFinding>> {
  const findings: Array<DefinitionFinding> = []
  const fires: Array<ScheduledDefinition> = []
  for (const definition of definitions) {
    const { path, schedule, timezone } = definition
    const next = yield* nextSlotInSteps(schedule, timezone, now, definition)
    if (next === null) {
      const message =
        "The schedule never fires again, because of ends_at or the excluded days. Change them, or remove the task."
      const field = intervalOf(schedule) === undefined ? "schedule" : "every"
      findings.push({ code: "never_fires", path: [...path, field], message })
      continue
    }
    fires.push(definition)
    findings.push(...clockChangesOf(definition, now))
    yield
  }
  findings.push(...(yield* crowdsOf(fires, now)))
  return findings
}

const clockChangesOf = (
  definition: ScheduledDefinition,
  now: number
): ReadonlyArray<DefinitionFinding> => {
  const { path, schedule, timezone } = definition
  const findings: Array<DefinitionFinding> = []
  // Clock changes do not affect a schedule that repeats after a fixed interval, such as every 15
  // minutes.
  if (intervalOf(schedule) !== undefined || parseValidSchedule(schedule).byElapsedTime)
    return findings
  const until = Math.min(
    now + yearMs,
    definition.ends_at ? Date.parse(definition.ends_at) : Infinity
  )
  for (
    let at = offsetPeriodAt(timezone, now).end;
    at < until;
    at = offsetPeriodAt(timezone, at).end
  ) {
    const [firing] = previewFirings(schedule, timezone, at - 1, 1, definition)
    const affected = firing?.clock_change
    if (firing === undefined || affected == null) continue
    const message = `${clockTexts[affected](firing.local)} (${timezone}).`
    findings.push({ code: "clock_change", path: [...path, "schedule"], message })
  }
  return findings
}

const clockTexts = {
  moved: (local: string) =>
    `The clocks skip the time of the schedule, so it fires at ${local} instead`,
  doubled: (local: string) =>
    `The schedule fires a second time at ${local}, because the clocks are set back`,
  dropped: (local: string) =>
    `The clocks are set back, but the schedule does not fire a second time at ${local}; it would with dst_overlap "both"`
} as const

/**
 * Finds the hosts at which too many runs begin within one minute of the coming week. The hosts are
 * checked one after the other, so that only one host's counts are in memory.
 */
function* crowdsOf(
  definitions: ReadonlyArray<ScheduledDefinition>,
  now: number
): Generator<void, ReadonlyArray<DefinitionFinding>> {
  const findings: Array<DefinitionFinding> = []
  const start = Math.ceil(now / minuteMs)
  const counts = new Uint16Array(weekMs / minuteMs)
  let visits = 0
  const punctual = definitions.filter(({ isPunctual }) => isPunctual)
  for (const [host, tasks] of Map.groupBy(punctual, (definition) => definition.host)) {
    if (tasks.length <= maxUnreportedRunsPerHost) continue
    counts.fill(0)
    for (const rhythm of Map.groupBy(tasks, rhythmOf).values()) {
      const [first] = rhythm
      if (first === undefined || visits > maxVisits) continue
      const range = [start * minuteMs, start * minuteMs + weekMs] as const
      let last = -1
      visitFirings(first.schedule, first.timezone, ...range, first, (at) => {
        visits++
        const minute = Math.floor(at / minuteMs) - start
        // A schedule with seconds can begin several runs in a minute. They do not run at the same
        // time, so they count as one run.
        if (minute !== last) counts[minute] = (counts[minute] ?? 0) + rhythm.length
        last = minute
      })
      yield
    }
    const most = counts.reduce((a, b) => Math.max(a, b), 0)
    if (most <= maxUnreportedRunsPerHost) continue
    const minute = new Date((start + counts.indexOf(most)) * minuteMs).toISOString().slice(0, 16)
    const message = `${most} runs call ${host} in the same minute (${minute}Z). Spread them out with jitter_seconds or different minutes, or limit them with a queue.`
    findings.push({ code: "crowded_minute", path: [], message })
  }
  return findings
}

const rhythmOf = ({ dst_overlap, schedule, timezone }: ScheduledDefinition) =>
  `${schedule} ${timezone} ${dst_overlap ?? "first"}`
