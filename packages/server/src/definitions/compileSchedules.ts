import type { DefinitionFinding } from "@scheduling/domain/definitions/AppliedDefinitions"
import { preview } from "@scheduling/schedules/Firings"
import { intervalOf } from "@scheduling/schedules/Interval"
import { parsedOf } from "@scheduling/schedules/readSchedule"
import { nextSlotInSteps, type SlotRule } from "@scheduling/schedules/slots"
import { visitFirings } from "@scheduling/schedules/visitFirings"
import { stretchAt } from "@scheduling/schedules/ZoneClock"
import { dayMs } from "../core/index.ts"

/** The fields of a scheduled task or chain that decide when its runs begin, and where. */
export interface ScheduledDefinition extends SlotRule {
  readonly path: DefinitionFinding["path"]
  /** A cron expression or the text of an interval. */
  readonly schedule: string
  readonly timezone: string
  /** The host of its first call. */
  readonly host: string
  /** Whether runs begin exactly at their slots, without jitter or a queue. */
  readonly isPunctual: boolean
}

/** A finding reports a host at which more runs than this begin within a minute. */
export const crowd = 30

const yearMs = 365 * dayMs
const weekMs = 7 * dayMs
const minuteMs = 60_000

/**
 * The maximum number of slots to visit, which takes a node about a second, in slices of a few
 * milliseconds. Further slots are not counted.
 */
const maxVisits = 5_000_000

/**
 * Finds schedules that probably do something else than intended. Yields often, so that other work
 * can run.
 */
export function* compileSchedules(
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
        "The schedule has no slot left, because of ends_at or the excluded days. Change them, or remove it."
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
  // A schedule by elapsed time, such as every 15 minutes, is not affected by clock changes.
  if (intervalOf(schedule) !== undefined || parsedOf(schedule).byElapsedTime) return findings
  const until = Math.min(
    now + yearMs,
    definition.ends_at ? Date.parse(definition.ends_at) : Infinity
  )
  for (let at = stretchAt(timezone, now).end; at < until; at = stretchAt(timezone, at).end) {
    const [firing] = preview(schedule, timezone, at - 1, 1, definition)
    const affected = firing?.clock_change
    if (firing === undefined || affected == null) continue
    const message = `${clockTexts[affected](firing.local)} (${timezone}).`
    findings.push({ code: "clock_change", path: [...path, "schedule"], message })
  }
  return findings
}

const clockTexts = {
  moved: (local: string) =>
    `Clocks skip the time of the schedule, so that it fires at ${local} in its place`,
  doubled: (local: string) => `It fires a second time at ${local}, because clocks are set back`,
  dropped: (local: string) =>
    `Its time occurs twice, and it does not fire again at ${local}; dst_overlap "both" would`
} as const

/**
 * Counts the slots of one host after the other, so that memory holds the minutes of only one week.
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
    if (tasks.length <= crowd) continue
    counts.fill(0)
    for (const rhythm of Map.groupBy(tasks, rhythmOf).values()) {
      const [first] = rhythm
      if (first === undefined || visits > maxVisits) continue
      const range = [start * minuteMs, start * minuteMs + weekMs] as const
      let last = -1
      visitFirings(first.schedule, first.timezone, ...range, first, (at) => {
        visits++
        const minute = Math.floor(at / minuteMs) - start
        // A schedule with seconds may begin several runs in a minute, one after the other, so the
        // minute counts once.
        if (minute !== last) counts[minute] = (counts[minute] ?? 0) + rhythm.length
        last = minute
      })
      yield
    }
    const most = counts.reduce((a, b) => Math.max(a, b), 0)
    if (most <= crowd) continue
    const minute = new Date((start + counts.indexOf(most)) * minuteMs).toISOString()
    const message = `${most} runs begin at ${host} in the minute of ${minute}. Spread them by jitter_seconds or other minutes, or give them a queue.`
    findings.push({ code: "crowded_minute", path: [], message })
  }
  return findings
}

const rhythmOf = ({ dst_overlap, schedule, timezone }: ScheduledDefinition) =>
  `${schedule} ${timezone} ${dst_overlap ?? "first"}`
