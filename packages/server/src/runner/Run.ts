import type {
  ExecutionKind,
  ExecutionTrigger,
  ExecutionStatus
} from "@scheduling/domain/executions/Execution"
import { maxBodyBytes } from "@scheduling/domain/shared/HttpCall"
import type { CallRequest } from "./Call.ts"

/** A run that has not ended, as the services show it: the fields of an execution. */
export interface QueuedRun {
  readonly id: string
  readonly workspace_id: string
  readonly task_id: string
  readonly kind: ExecutionKind
  readonly trigger: ExecutionTrigger
  readonly chain_run_id: string | null
  readonly step_index: number | null
  readonly step: string | null
  readonly status: "queued"
  readonly scheduled_for: Date
}

/** Whose turn it is, and where the call goes: what runs share slots by. */
export interface Claimant {
  /** The upper half of the lane: accounts that were registered from one address are one share. */
  readonly share: number
  readonly workspace_id: string
  /** The origin of the call as the task has it; null where it is not known yet. */
  readonly target: string | null
}

/** A run that is leased to this node and not started yet. */
export interface LeasedRun extends Claimant {
  readonly id: string
  readonly attempt: number
  /** On the database's clock. */
  readonly due_ms: number
}

/** What a run executes: the definition of its task as it is when it starts. */
export type RunCall = Pick<
  CallRequest,
  "method" | "url" | "headers" | "body" | "timeout_seconds"
> & { readonly retry_count: number }

/** So many bytes of headers and body come with the start of a run; more are read on their own. */
export const givenBytes = 8 * 1024

/** The largest body, and headers and a URL to go with it. */
export const heaviestCall = maxBodyBytes + 32 * 1024

/** Where a step stands in the run of its chain. */
export interface StepPlace {
  readonly chain_run_id: string
  readonly version_id: string
  readonly step_index: number
  /** A step before it has failed. */
  readonly after_failure: boolean
}

export interface StartedRun {
  readonly id: string
  readonly workspace_id: string
  readonly task_id: string
  readonly kind: ExecutionKind
  readonly attempt: number
  readonly lost: number
  /** On the database's clock: not before this. */
  readonly due_ms: number
  /** Null: it is no step of a chain. */
  readonly place: StepPlace | null
  /** Null: its task is gone, or the call is withheld. */
  readonly call: RunCall | null
  /** The bytes that reading the call may take; 0: it is here. */
  readonly withheld: number
}

/** What one try came to. */
export interface AttemptEnd {
  /** False: no call was made, and there is no attempt to record. */
  readonly started: boolean
  /** Null: as the start guard wrote it. */
  readonly started_ms: number | null
  readonly finished_ms: number | null
  readonly status_code: number | null
  readonly response_body: string | null
  readonly error: string | null
}

/** What is to be written about a run. The fence: `id`, `attempt` and `lease_owner` still hold. */
export interface Settlement extends AttemptEnd {
  readonly id: string
  readonly workspace_id: string
  /** Of a delayed task, which ends with its run. */
  readonly delayed_task_id: string | null
  readonly attempt: number
  readonly lease_owner: number | null
  /** Null: it goes back to the queue for another attempt. */
  readonly status: Exclude<ExecutionStatus, "queued" | "running"> | null
  readonly retry_delay_ms: number | null
  /** The attempt ended because its node was lost. */
  readonly lost: boolean
  /** Null: no step of a chain, or of one that never started and leaves no trace of the others. */
  readonly place: StepPlace | null
}

export const delayedTaskOf = ({
  kind,
  task_id
}: {
  readonly kind: ExecutionKind
  readonly task_id: string
}): string | null => (kind === "delayed" ? task_id : null)
