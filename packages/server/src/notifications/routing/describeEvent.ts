import type { EventChainRun, EventExecution } from "@scheduling/domain/events/Event"
import { TaskId } from "@scheduling/domain/executions/Execution"
import { parseErrorLine } from "@scheduling/domain/executions/ExecutionError"
import { type DeliveredEvent, isRecovery } from "@scheduling/domain/notifications/NotificationEvent"
import { ChainId, ChainRunId, ExecutionId } from "@scheduling/domain/shared/Ids"
import type { EventData, RunData } from "../../events/index.ts"
import { dependentsFactNames, type MessageFact, type MessageEvent } from "../kinds/Message.ts"
import type { OutboxEvent } from "./OutboxEvent.ts"
import type { Problem } from "./problemAfter.ts"
import { truncate, toOneLine } from "../../core/index.ts"

/**
 * The monitors and tasks that are down and depend on a subject: their number, and some of their
 * names.
 */
export interface DependentsDown {
  readonly count: number
  readonly names: ReadonlyArray<string>
}

type Described = Pick<OutboxEvent, "subject_id" | "at" | "data"> & {
  readonly event: DeliveredEvent
}

/** Describes an event for messages: what failed, why, how often and since when. */
export const describeEvent = (
  event: Described,
  taskName?: string,
  problem?: Problem,
  dependents?: DependentsDown
): MessageEvent => {
  const { data } = event
  return {
    event: event.event,
    subject_id: event.subject_id,
    name: truncate(toOneLine(data.name ?? taskName ?? "a deleted record"), 200),
    reason: reasonOf(event),
    at: event.at.toISOString(),
    data: data.about ?? dataOfRun(event, data.run),
    facts: [
      ...(data.facts ?? []),
      ...runFacts(data.run),
      ...problemFacts(event, problem),
      ...certificateFacts(event),
      ...dependentsFacts(event, dependents)
    ].map(({ name, value }) => ({
      name: truncate(toOneLine(name), 50),
      value: truncate(toOneLine(value), 300)
    })),
    ...(data.reminder === true ? { reminder: true } : {})
  }
}

/** Returns the event data for a run. All other events store their data in the outbox. */
const dataOfRun = ({ event, subject_id }: Described, run: RunData): EventData => {
  const id = TaskId.make(subject_id)
  const chainRunId = run.chain_run_id === null ? null : ChainRunId.make(run.chain_run_id)
  const execution: EventExecution = {
    id: ExecutionId.make(run.execution_id),
    kind: run.kind,
    task_id: id,
    chain_run_id: chainRunId,
    status: run.status,
    attempts_count: run.attempts,
    status_code: run.status_code,
    error: run.error === null ? null : parseErrorLine(run.error)
  }
  if (event === "task.recovered") return { task: { id, kind: run.kind }, execution }
  if (run.kind !== "chain") return { execution }
  const chain_run: EventChainRun = {
    id: chainRunId ?? ChainRunId.make(run.execution_id),
    chain_id: ChainId.make(subject_id),
    status: event === "chain_run.succeeded" ? "succeeded" : "failed"
  }
  return { chain_run, execution }
}

const reasonOf = ({ data: { failed_step, reason, run } }: Described): string | null => {
  if (reason != null) return truncate(toOneLine(reason), 300)
  const failed = failed_step ?? run
  if (failed === undefined || failed.error === null) return null
  return describeFailure(failed.step, parseErrorLine(failed.error).message)
}

/** Says why a run failed and, for a chain, in which step. */
export const describeFailure = (step: string | null, why: string): string =>
  truncate(toOneLine(step === null ? why : `step ${step}: ${why}`), 300)

const runFacts = (run: RunData | undefined): ReadonlyArray<MessageFact> =>
  run === undefined
    ? []
    : [
        { name: "Execution", value: run.chain_run_id ?? run.execution_id },
        ...(run.attempts > 1 ? [{ name: "Attempts", value: String(run.attempts) }] : [])
      ]

const problemFacts = (
  { at }: Described,
  problem: Problem | undefined
): ReadonlyArray<MessageFact> => {
  if (problem === undefined) return []
  const lasted = at.getTime() - problem.since.getTime()
  return [
    ...(problem.failures > 1
      ? [{ name: "Consecutive failures", value: `${problem.failures} times` }]
      : []),
    ...(lasted >= 1_000
      ? [{ name: "Since", value: `${problem.since.toISOString()} (${formatDuration(lasted)})` }]
      : [])
  ]
}

/** Says when the certificate expires, because the problem began only when a check noticed it. */
const certificateFacts = ({
  at,
  data: { about },
  event
}: Described): ReadonlyArray<MessageFact> => {
  if (event !== "incident.opened" || about === undefined || !("incident" in about)) return []
  const expiresAt = about.incident.cause?.certificate_expires_at
  if (expiresAt === undefined) return []
  const leftMs = Date.parse(expiresAt) - at.getTime()
  return [
    leftMs > 0
      ? { name: "Certificate expires", value: `${expiresAt} (in ${formatDuration(leftMs)})` }
      : { name: "Certificate expired", value: `${expiresAt} (${formatDuration(-leftMs)} ago)` }
  ]
}

const dependentsFacts = (
  { event }: Described,
  dependents: DependentsDown | undefined
): ReadonlyArray<MessageFact> => {
  if (dependents === undefined) return []
  const names = dependents.names.map((name) => truncate(toOneLine(name), 40))
  const more = dependents.count - names.length
  const last = more > 0 ? `${more.toLocaleString("en")} more` : names.pop()
  const value = names.length === 0 ? (last ?? "") : `${names.join(", ")} and ${last}`
  return [{ name: isRecovery(event) ? dependentsFactNames.up : dependentsFactNames.down, value }]
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000]
] as const

/** Formats a duration in its two largest units: `2 d 3 h`. */
export const formatDuration = (ms: number): string => {
  let rest = ms
  const parts = units.flatMap(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count === 0 ? [] : [`${count} ${unit}`]
  })
  return parts.length === 0 ? "0 s" : parts.slice(0, 2).join(" ")
}
