import type { ApiPromise } from "../ApiPromise.ts"
import { now, sleep } from "../transport/clock.ts"
import { WaitTimeoutError } from "../errors.ts"
import { NotFoundError } from "../generated/errors.ts"
import type {
  ChainId,
  ChainRun,
  ChainRunDetail,
  ChainRunId,
  CronTaskId,
  DelayedTaskId,
  Execution,
  ExecutionDetail,
  ExecutionId,
  RunRequest
} from "../generated/shared.ts"
import {
  type Idempotent,
  type InWorkspace,
  requestLimits,
  type RequestOptions
} from "../options.ts"
import { Resource } from "../Resource.ts"
import { serverWaitMs, nextPauseMs, roundTripAllowanceMs } from "./waitPace.ts"

export interface WaitOptions extends Omit<RequestOptions, "timeoutMs">, InWorkspace {
  /**
   * The time limit of the whole wait. Defaults to 300,000. When exceeded, the call throws
   * `WaitTimeoutError`.
   */
  readonly timeoutMs?: number | undefined
}

/** The base class of resources with waiting methods. Their other methods are generated. */
abstract class WaitingResource extends Resource {
  /** Requires the scope `executions:read`, because it reads an execution. */
  protected async execution(
    id: ExecutionId,
    { timeoutMs, ...options }: WaitOptions = {}
  ): Promise<ExecutionDetail> {
    return untilFinished(id, { ...options, timeoutMs }, (wait_seconds, attemptMs) =>
      this.call<ExecutionDetail>({
        route: "GET executions/{execution_id}",
        ids: [id],
        query: { wait_seconds },
        options: { ...options, timeoutMs: attemptMs }
      })
    )
  }
}

export abstract class ExecutionsBase extends WaitingResource {
  /**
   * Waits until the execution has finished, and returns it with its attempts. `status` is its
   * result.
   *
   * @example
   * const executionId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
   * const { status } = await client.executions.wait(executionId, { timeoutMs: 60_000 })
   */
  async wait(executionId: ExecutionId, options?: WaitOptions): Promise<ExecutionDetail> {
    try {
      return await this.execution(executionId, options)
    } catch (error) {
      // Users who create a delayed task often pass the task's id instead.
      if (error instanceof NotFoundError && error.resource === "execution") {
        error.message += ` If ${executionId} is the id of a task, executions.list({ task_id }) finds its executions.`
      }
      throw error
    }
  }
}

abstract class TaskBase<TaskId> extends WaitingResource {
  abstract run(
    taskId: TaskId,
    body?: RunRequest,
    options?: RequestOptions & InWorkspace & Idempotent
  ): ApiPromise<Execution>

  /**
   * Runs the task now, waits until the execution has finished, and returns it with its attempts.
   * `status` is its result. Requires the scopes `tasks:write` and `executions:read`.
   *
   * @example
   * const taskId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
   * const { attempts, status } = await client.cron.runAndWait(taskId)
   */
  async runAndWait(
    taskId: TaskId,
    body: RunRequest = {},
    options: WaitOptions & Idempotent = {}
  ): Promise<ExecutionDetail> {
    const { idempotencyKey, timeoutMs, ...both } = options
    const { id } = await this.run(taskId, body, { ...both, idempotencyKey })
    return this.execution(id, { ...both, timeoutMs })
  }
}

export abstract class CronBase extends TaskBase<CronTaskId> {}

export abstract class DelayedBase extends TaskBase<DelayedTaskId> {}

export abstract class ChainsBase extends Resource {
  abstract run(
    chainId: ChainId,
    body?: RunRequest,
    options?: RequestOptions & InWorkspace & Idempotent
  ): ApiPromise<ChainRun>

  abstract getRun(
    chainId: ChainId,
    runId: ChainRunId,
    query?: { readonly wait_seconds?: number | undefined },
    options?: RequestOptions & InWorkspace
  ): ApiPromise<ChainRunDetail>

  /**
   * Waits until a run has finished, and returns it with each step's response.
   *
   * @example
   * const chainId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
   * const { id } = await client.chains.run(chainId)
   * const { status, steps } = await client.chains.waitForRun(chainId, id)
   */
  async waitForRun(
    chainId: ChainId,
    runId: ChainRunId,
    { timeoutMs, ...options }: WaitOptions = {}
  ): Promise<ChainRunDetail> {
    return untilFinished(runId, { ...options, timeoutMs }, (wait_seconds, attemptMs) =>
      this.getRun(chainId, runId, { wait_seconds }, { ...options, timeoutMs: attemptMs })
    )
  }

  /**
   * Runs the chain now, waits until the run has finished, and returns it with each step's response.
   * `status` is its result. Requires the scopes `tasks:write` and `executions:read`.
   *
   * @example
   * const chainId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
   * const input = { date: "2026-01-31" }
   * const { status, steps } = await client.chains.runAndWait(chainId, { input })
   */
  async runAndWait(
    chainId: ChainId,
    body: RunRequest = {},
    options: WaitOptions & Idempotent = {}
  ): Promise<ChainRunDetail> {
    const { idempotencyKey, timeoutMs, ...both } = options
    const { id } = await this.run(chainId, body, { ...both, idempotencyKey })
    return this.waitForRun(chainId, id, { ...both, timeoutMs })
  }
}

const defaults = { timeoutMs: 300_000, maxRetries: 0 }

/**
 * Polls until the record has finished or the time limit is reached. Each request waits as long as
 * the service allows.
 */
const untilFinished = async <A extends { readonly finished_at: string | null }>(
  id: string,
  { signal, ...given }: Pick<WaitOptions, "signal" | "timeoutMs">,
  ask: (waitSeconds: number, attemptMs: number) => Promise<A>
): Promise<A> => {
  const { timeoutMs } = requestLimits({ timeoutMs: given.timeoutMs }, defaults)
  const endsAt = now() + timeoutMs
  for (;;) {
    const askedAt = now()
    const heldMs = serverWaitMs(endsAt - askedAt)
    const record = await ask(heldMs / 1_000, heldMs + roundTripAllowanceMs)
    if (record.finished_at !== null) return record
    const left = endsAt - now()
    if (left <= 0) throw new WaitTimeoutError(id, timeoutMs)
    await sleep(nextPauseMs(now() - askedAt, left), signal)
  }
}
