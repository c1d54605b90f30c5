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

/** Identifies a task in a workspace to which the request has access. */
export interface TaskOfRun {
  readonly workspace_id: AuthorizedWorkspaceId
  readonly task_id: string
}

/** An unfinished run as the services show it: the fields of an execution. */
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

/** The owner of a run and the target of its call. Call slots are shared out by these. */
export interface Claimant {
  /**
   * The upper half of the lane. Accounts that were registered from the same address have the same
   * share.
   */
  readonly share: number
  readonly workspace_id: string
  /** The origin of the call according to the task. Null if it is not known yet. */
  readonly target: string | null
}

/** A run that is leased to this node and has not started. */
export interface LeasedRun extends Claimant {
  readonly id: string
  readonly attempt: number
  /** On the database clock. */
  readonly due_ms: number
  /** Whether the run holds a slot of a named queue, which is freed when its result is written. */
  readonly holdsSlot?: boolean
}

/** The call of a run: the definition of its task when the run starts. */
export type RunCall = Pick<
  CallRequest,
  "method" | "url" | "headers" | "body" | "timeout_seconds"
> & { readonly retry_count: number; readonly call_options: CallOptions | null }

/**
 * Headers and body up to this size are returned with the start of a run. Larger ones are read
 * separately.
 */
export const inlineCallBytes = 8 * 1024

/** The largest body, plus headers and a URL. */
export const maxCallBytes = maxBodyBytes + 32 * 1024

/** The position of a step in its chain run. */
export interface StepPosition {
  readonly chain_run_id: string
  readonly version_id: string
  readonly step_index: number
  /** Whether an earlier step has failed. */
  readonly after_failure: boolean
}

export interface StartedRun {
  readonly id: string
  readonly workspace_id: string
  readonly task_id: string
  readonly kind: ExecutionKind
  readonly attempt: number
  readonly lost: number
  /** The due time by the database clock. The call is not made earlier. */
  readonly due_ms: number
  /** The time that the execution shows. Retries are due later. */
  readonly scheduled_ms: number
  /**
   * The row position after the start, valid until the row changes. Null if the run has not started.
   */
  readonly row_at: string | null
  /** Null if the run is not a step of a chain. */
  readonly position: StepPosition | null
  /** Null if the task was deleted or the call is too large to be returned with the start. */
  readonly call: RunCall | null
  /**
   * The maximum number of bytes to read for the call. 0 if the call was returned with the start.
   */
  readonly withheld: number
}

/** The result of one attempt. */
export interface AttemptEnd {
  /** False if no call was made. Then there is no attempt to record. */
  readonly started: boolean
  /** Null keeps the time that the start guard wrote. */
  readonly started_ms: number | null
  readonly finished_ms: number | null
  readonly status_code: number | null
  readonly response_body: string | null
  readonly error: ExecutionError | null
  /** Null if nothing was sent or it is unknown. */
  readonly exchange: ExchangeDetails | null
}

/**
 * The result to write for a run. The fence: `id`, `attempt`, `lease_owner` and `awaited` must still
 * match.
 */
export interface Settlement extends AttemptEnd {
  readonly id: string
  readonly workspace_id: string
  readonly task_id: string
  readonly kind: ExecutionKind
  readonly attempt: number
  /** The node or session that holds the run. Null if the run is not leased. */
  readonly lease_owner: number | null
  /** Whether the run has been awaiting its completion. */
  readonly awaited: boolean
  /** A row position at which the run may be found without an index. */
  readonly row_at: string | null
  /** Null returns the run to the queue for another attempt, or lets it await its completion. */
  readonly status: Exclude<ExecutionStatus, "queued" | "running"> | null
  readonly retry_delay_ms: number | null
  /** The deadline of the completion, if the run now awaits it. Then `status` is null. */
  readonly completes_by_ms: number | null
  /** Whether the attempt ended because its node was lost. */
  readonly lost: boolean
  /**
   * Null if the run is not a step of a chain, or if the chain run never started. In the latter
   * case, the other steps leave no trace.
   */
  readonly position: StepPosition | null
}

/** The fields of a run that a settlement needs. */
export type SettledRun = Pick<
  StartedRun,
  "id" | "workspace_id" | "task_id" | "kind" | "attempt" | "position"
> &
  Partial<Pick<StartedRun, "row_at">>

/**
 * Creates the settlement of a run that `owner` holds. Fields that `end` omits get the value for
 * "did not happen".
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
