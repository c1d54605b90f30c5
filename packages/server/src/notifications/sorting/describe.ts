import { parseErrorLine } from "@scheduling/domain/executions/ExecutionError"
import type { DeliveredEvent } from "@scheduling/domain/notifications/NotificationEvent"
import type { Trouble } from "./decide.ts"
import type { Fact, ToldEvent } from "../Message.ts"
import type { OutboxRow } from "./OutboxRow.ts"
import { cut, oneLine } from "../../core/index.ts"

/** What happened, of the outbox or of the one of call-backs. */
type Described = Pick<OutboxRow, "subject_id" | "at" | "data"> & { readonly event: DeliveredEvent }

/** An event as people are told of it: what failed, why, how often, since when. */
export const describe = (
  row: Described,
  taskName: string | undefined,
  trouble: Trouble | undefined
): ToldEvent => {
  const { data } = row
  const execution_id = data.chain_run_id ?? data.execution_id
  return {
    event: row.event,
    subject_id: row.subject_id,
    name: cut(oneLine(data.name ?? taskName ?? "something that is gone"), 200),
    reason: reasonOf(row),
    at: row.at.toISOString(),
    ...(execution_id === undefined ? {} : { execution_id }),
    facts: [...(data.facts ?? []), ...runFacts(row), ...troubleFacts(row, trouble)].map(
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

const troubleFacts = ({ at }: Described, trouble: Trouble | undefined): ReadonlyArray<Fact> => {
  if (trouble === undefined) return []
  const lasted = at.getTime() - trouble.since.getTime()
  return [
    ...(trouble.failures > 1
      ? [{ name: "Failed in a row", value: `${trouble.failures} times` }]
      : []),
    ...(lasted >= 1_000
      ? [{ name: "Since", value: `${trouble.since.toISOString()} (${spanOf(lasted)})` }]
      : [])
  ]
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000]
] as const

/** The two largest units: `2 d 3 h`. */
export const spanOf = (ms: number): string => {
  let rest = ms
  const parts = units.flatMap(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count === 0 ? [] : [`${count} ${unit}`]
  })
  return parts.length === 0 ? "0 s" : parts.slice(0, 2).join(" ")
}
