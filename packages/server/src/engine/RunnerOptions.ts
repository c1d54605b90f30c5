import { Context } from "effect"

export interface RunnerOptions {
  /** Maximum number of concurrent calls. */
  readonly concurrency: number
  /** Maximum memory that large calls may use. */
  readonly callBytes: number
  /** Maximum number of runs leased ahead of their time. */
  readonly maxHeld: number
  readonly lookAheadMs: number
  /** The maximum time between two of a node's searches for work. */
  readonly pollMs: number
  /**
   * How long an unresponsive node keeps its runs while it still appears to hold its advisory lock.
   */
  readonly leaseMs: number
  /** How long running calls may take to finish when the process stops. */
  readonly stopMs: number
  readonly retentionDays: number
}

export const defaultRunnerOptions: RunnerOptions = {
  concurrency: 4_096,
  callBytes: 64 * 1024 * 1024,
  maxHeld: 10_000,
  lookAheadMs: 2_000,
  pollMs: 500,
  leaseMs: 15_000,
  stopMs: 20_000,
  retentionDays: 30
}

export const RunnerOptions = Context.Reference<RunnerOptions>(
  "@scheduling/server/engine/RunnerOptions",
  { defaultValue: () => defaultRunnerOptions }
)
