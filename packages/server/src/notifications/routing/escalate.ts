import type { EscalationPolicy } from "@scheduling/domain/escalations/EscalationPolicy"
import type { DueStep } from "./OutboxEvent.ts"

/** An escalation policy whose members are replaced by their channels. */
export interface PolicyWithChannels extends Pick<
  EscalationPolicy,
  "key" | "name" | "repeat_after_seconds" | "repeat_count"
> {
  readonly id: string
  readonly workspace_id: string
  readonly steps: ReadonlyArray<{
    readonly after_seconds: number
    readonly channel_ids: ReadonlyArray<string>
  }>
}

/** A policy's next step for a problem. */
export interface Escalation {
  readonly subject_id: string
  readonly workspace_id: string
  readonly policy_id: string
  readonly step: number
  readonly round: number
  /** When the step is due. Null after the last step. */
  readonly due_at: Date | null
}

/** A step that was due while an incident was open, for the incident's history. */
export interface EscalatedStep {
  readonly id: string
  readonly incident_id: string
  readonly message: string
}

/**
 * If a step is later than this, for example because no node was running, the next step follows at
 * the usual interval. Otherwise all late steps would follow each other immediately.
 */
const lateMs = 60_000

/** Returns when the step after this one is due, or null if this is the last step. */
export const nextStepAfter = (
  { repeat_after_seconds, repeat_count, steps }: PolicyWithChannels,
  { at, round, step }: DueStep,
  now: Date
): Pick<Escalation, "step" | "round" | "due_at"> => {
  const next = steps[step + 1]
  const due = Date.parse(at)
  const from = now.getTime() - due > lateMs ? now.getTime() : due
  if (next !== undefined) {
    return { step: step + 1, round, due_at: new Date(from + next.after_seconds * 1_000) }
  }
  return {
    step: 0,
    round: round + 1,
    due_at: round < repeat_count ? new Date(from + repeat_after_seconds * 1_000) : null
  }
}

export const describeEscalationStep = (
  { name, steps }: PolicyWithChannels,
  { round, step }: Pick<DueStep, "round" | "step">
): string =>
  `Step ${step + 1} of ${steps.length} of “${name}”${round > 0 ? `, round ${round + 1}` : ""}`
