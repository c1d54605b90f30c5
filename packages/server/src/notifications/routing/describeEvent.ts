import { parseErrorLine } from "@scheduling/domain/executions/ExecutionError"
import type { DeliveredEvent } from "@scheduling/domain/notifications/NotificationEvent"
import type { Fact, MessageEvent } from "../kinds/Message.ts"
import type { OutboxEvent } from "./OutboxEvent.ts"
import type { Problem } from "./problemAfter.ts"
import { cut, oneLine } from "../../core/index.ts"

type Described = Pick<OutboxEvent, "subject_id" | "at" | "data"> & {
  readonly event: DeliveredEvent
}

/** An event as messages show it: what failed, why, how often, since when. */
export const describeEvent = (
  event: Described,
  taskName?: string,
  problem?: Problem
): MessageEvent => {
  const { data } = event
  const execution_id = data.chain_run_id ?? data.execution_id
  return {
    event: event.event,
    subject_id: event.subject_id,
    name: cut(oneLine(data.name ?? taskName ?? "something that is gone"), 200),
    reason: reasonOf(event),
    at: event.at.toISOString(),
    ...(execution_id === undefined ? {} : { execution_id }),
    facts: [...(data.facts ?? []), ...runFacts(event), ...problemFacts(event, problem)].map(
      ({ name, value }) => ({ name: cut(oneLine(name), 50), value: cut(oneLine(value), 300) })
    ),
    ...(data.reminder === true ? { reminder: true } : {})
  }
}

// ---------------------------------------------------------------------------

const reasonOf = ({ data }: Described): string | null => {
  if (data.reason !== undefined) return cut(oneLine(data.reason), 300)
  if (data.kind === undefined) return null
  const { error, step } = data
  if (error == null) return null
  const why = parseErrorLine(error).message
  return cut(oneLine(step == null ? why : `step ${step}: ${why}`), 300)
}

const runFacts = ({ data }: Described): ReadonlyArray<Fact> =>
  data.execution_id === undefined
    ? []
    : [
        { name: "Execution", value: data.chain_run_id ?? data.execution_id },
        ...((data.attempts ?? 1) > 1 ? [{ name: "Attempts", value: String(data.attempts) }] : [])
      ]

const problemFacts = ({ at }: Described, problem: Problem | undefined): ReadonlyArray<Fact> => {
  if (problem === undefined) return []
  const lasted = at.getTime() - problem.since.getTime()
  return [
    ...(problem.failures > 1
      ? [{ name: "Failed in a row", value: `${problem.failures} times` }]
      : []),
    ...(lasted >= 1_000
      ? [{ name: "Since", value: `${problem.since.toISOString()} (${spanOf(lasted)})` }]
      : [])
  ]
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000]
] as const

/** A duration in its two largest units: `2 d 3 h`. */
export const spanOf = (ms: number): string => {
  let rest = ms
  const parts = units.flatMap(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count === 0 ? [] : [`${count} ${unit}`]
  })
  return parts.length === 0 ? "0 s" : parts.slice(0, 2).join(" ")
}
