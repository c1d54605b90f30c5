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

/** Identifies a task of a workspace that the request may access. */
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
  readonly flow_key: string | null
  readonly status: "queued"
  readonly scheduled_for: Date
}

/**
 * The owner of a run and the target of its call. Call slots are divided among owners and among
 * targets.
 */
export interface OwnerAndTarget {
  /**
   * The upper half of the number of the run's lane. Lanes take turns. Accounts that were registered
   * from the same IP address have the same upper half.
   */
  readonly share: number
  readonly workspace_id: string
  /** The origin of the call according to the task. Null if it is not known yet. */
  readonly target: string | null
}

/** A run that is leased to this node and has not started. */
export interface LeasedRun extends OwnerAndTarget {
  readonly id: string
  readonly attempt: number
  /** When the run is due, on the database clock. */
  readonly due_ms: number
  /** Whether the run holds a slot of a named queue, which is freed when its result is written. */
  readonly holdsSlot?: boolean
}

/** The parts of a task's definition that a call needs, as they are when the run starts. */
export type RunCall = Pick<
  CallRequest,
  "method" | "url" | "headers" | "body" | "timeout_seconds"
> & { readonly retry_count: number; readonly call_options: CallOptions | null }

/**
 * The maximum size of headers and body that are returned with the start of a run. Larger ones are
 * read separately.
 */
export const maxInlineCallBytes = 8 * 1024

/** Maximum size of a call: the largest body, plus headers and a URL. */
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
  /** The time for which the run was scheduled, as its execution shows it. Retries are due later. */
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
   * An upper bound for the size in bytes of the parts of the call that were not returned with the
   * start. 0 if the whole call was returned.
   */
  readonly withheld: number
}

/** What a step that makes no call waits for. */
export type RunPause =
  /** `until` is the time that the step names. Null if the step names a duration instead. */
  | { readonly kind: "wait"; readonly until: string | null }
  | {
      readonly kind: "approve"
      /** The message with its values filled in. */
      readonly message: string | null
      readonly channel_ids: ReadonlyArray<string>
      readonly approvers: ReadonlyArray<string>
    }

/** The result of one attempt. */
export interface AttemptResult {
  /** False if no call was made. Then there is no attempt to record. */
  readonly started: boolean
  /** When the attempt started. If null, the time that the start guard wrote is kept. */
  readonly started_ms: number | null
  readonly finished_ms: number | null
  readonly status_code: number | null
  readonly response_body: string | null
  readonly error: ExecutionError | null
  /** Null if nothing was sent, or if the details are unknown. */
  readonly exchange: ExchangeDetails | null
}

/**
 * The result to write for a run. The result is discarded unless `id`, `attempt`, `lease_owner` and
 * `awaited` still match the run. This check is called the fence.
 */
export interface Settlement extends AttemptResult {
  readonly id: string
  readonly workspace_id: string
  readonly task_id: string
  readonly kind: ExecutionKind
  readonly attempt: number
  /** The node or session that holds the run. Null if the run is not leased. */
  readonly lease_owner: number | null
  /** Whether the run has been awaiting its completion. */
  readonly awaited: boolean
  /** The probable position of the run's row, which saves an index lookup. */
  readonly row_at: string | null
  /** If null, the run returns to the queue for another attempt, or awaits its completion. */
  readonly status: Exclude<ExecutionStatus, "queued" | "running"> | null
  readonly retry_delay_ms: number | null
  /**
   * The deadline of the completion that the run now awaits, or the end of its pause. Set only if
   * `status` is null.
   */
  readonly completes_by_ms: number | null
  /** What the run waits for instead of a completion, if its step makes no call. */
  readonly pause: RunPause | null
  /** Whether the attempt ended because its node was lost. */
  readonly lost: boolean
  /**
   * Null if the run is not a step of a chain, or if the chain run never started. In the latter
   * case, the other steps are not recorded.
   */
  readonly position: StepPosition | null
}

/** The fields of a run that its settlement copies. */
export type SettleableRun = Pick<
  StartedRun,
  "id" | "workspace_id" | "task_id" | "kind" | "attempt" | "position"
> &
  Partial<Pick<StartedRun, "row_at">>

/**
 * Creates the settlement of a run that `owner` holds. The default of each field that `end` leaves
 * out means that nothing of the kind happened.
 */
export const makeSettlement = (
  run: SettleableRun,
  owner: number | null,
  end: Pick<Settlement, "status" | "error"> &
    Partial<
      AttemptResult &
        Pick<Settlement, "retry_delay_ms" | "completes_by_ms" | "pause" | "lost" | "awaited">
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
  pause: end.pause ?? null,
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
