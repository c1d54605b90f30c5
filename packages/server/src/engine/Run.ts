import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { type ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import type {
  ExecutionKind,
  ExecutionTrigger,
  ExecutionStatus
} from "@scheduling/domain/executions/Execution"
import type { CallOptions } from "@scheduling/domain/calls/CallOptions"
import { maxBodyBytes } from "@scheduling/domain/calls/HttpCall"
import type { CallRequest } from "@scheduling/calls/CallRequest"
import type { ExchangeDetails } from "@scheduling/calls/CallResult"

/** A task of a workspace that somebody was let into. */
export interface TaskOfRun {
  readonly workspace_id: AuthorizedWorkspaceId
  readonly task_id: string
}

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

/** Whose run it is and where its call goes. Slots are shared by these. */
export interface Claimant {
  /** The upper half of the lane: accounts that were registered from one address are one share. */
  readonly share: number
  readonly workspace_id: string
  /** The origin of the call according to the task. Null if it is not known yet. */
  readonly target: string | null
}

/** A run that is leased to this node and not started yet. */
export interface LeasedRun extends Claimant {
  readonly id: string
  readonly attempt: number
  /** On the database's clock. */
  readonly due_ms: number
  /** Whether it holds a slot of a named queue, which stays empty until its result is written. */
  readonly holdsSlot?: boolean
}

/** What a run executes: the definition of its task at the time the run starts. */
export type RunCall = Pick<
  CallRequest,
  "method" | "url" | "headers" | "body" | "timeout_seconds"
> & { readonly retry_count: number; readonly call_options: CallOptions | null }

/**
 * Headers and body up to this size come with the start of a run. Larger ones are read on their own.
 */
export const givenBytes = 8 * 1024

/** The largest body, with headers and a URL. */
export const heaviestCall = maxBodyBytes + 32 * 1024

/** Where a step stands in the run of its chain. */
export interface StepPosition {
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
  /** On the database's clock. The call is not made before this. */
  readonly due_ms: number
  /** The time that the execution shows. A further attempt is due later. */
  readonly scheduled_ms: number
  /** Where its row stands since it started, unless it has been changed. Null if it has not started. */
  readonly row_at: string | null
  /** Null if it is not a step of a chain. */
  readonly position: StepPosition | null
  /** Null if its task is gone or the call is withheld. */
  readonly call: RunCall | null
  /** How many bytes reading the call may take. 0 if the call is not withheld. */
  readonly withheld: number
}

/** How one attempt ended. */
export interface AttemptEnd {
  /** False if no call was made, so that there is no attempt to record. */
  readonly started: boolean
  /** Null keeps the time that the start guard wrote. */
  readonly started_ms: number | null
  readonly finished_ms: number | null
  readonly status_code: number | null
  readonly response_body: string | null
  readonly error: ExecutionError | null
  /** Null if nothing was sent, or nobody knows. */
  readonly exchange: ExchangeDetails | null
}

/**
 * What is to be written about a run. The fence: `id`, `attempt`, `lease_owner` and `awaited` must still match.
 */
export interface Settlement extends AttemptEnd {
  readonly id: string
  readonly workspace_id: string
  readonly task_id: string
  readonly kind: ExecutionKind
  readonly attempt: number
  /** The node or session that holds it. Null if nobody does. */
  readonly lease_owner: number | null
  /** Whether the run awaited its completion until now. */
  readonly awaited: boolean
  /** Where its row may be found without an index. */
  readonly row_at: string | null
  /** Null sends the run back to the queue for another attempt, or lets it await its completion. */
  readonly status: Exclude<ExecutionStatus, "queued" | "running"> | null
  readonly retry_delay_ms: number | null
  /** When the completion must have come, if the run awaits it from now on. Then `status` is null. */
  readonly completes_by_ms: number | null
  /** The attempt ended because its node was lost. */
  readonly lost: boolean
  /**
   * Null if it is not a step of a chain, or if the chain run never started. Then the other steps
   * leave no trace.
   */
  readonly position: StepPosition | null
}

/** What a settlement needs to know about a run. */
export type SettledRun = Pick<
  StartedRun,
  "id" | "workspace_id" | "task_id" | "kind" | "attempt" | "position"
> &
  Partial<Pick<StartedRun, "row_at">>

/**
 * What is to be written about a run that the owner holds. Everything that `end` leaves out did not
 * happen.
 */
export const settlementOf = (
  run: SettledRun,
  owner: number | null,
  end: Pick<Settlement, "status" | "error"> &
    Partial<
      AttemptEnd & Pick<Settlement, "retry_delay_ms" | "completes_by_ms" | "lost" | "awaited">
    >
): Settlement => ({
  id: run.id,
  workspace_id: run.workspace_id,
  task_id: run.task_id,
  kind: run.kind,
  attempt: run.attempt,
  lease_owner: owner,
  awaited: end.awaited ?? false,
  row_at: run.row_at ?? null,
  status: end.status,
  retry_delay_ms: end.retry_delay_ms ?? null,
  completes_by_ms: end.completes_by_ms ?? null,
  lost: end.lost ?? false,
  started: end.started ?? false,
  started_ms: end.started_ms ?? null,
  finished_ms: end.finished_ms ?? null,
  status_code: end.status_code ?? null,
  response_body: end.response_body ?? null,
  error: end.error,
  exchange: end.exchange ?? null,
  position: run.position
})
