/** Since the process started. */
export interface RunnerCounts {
  fired: number
  claimed: number
  started: number
  succeeded: number
  failed: number
  retried: number
  cancelled: number
  skipped: number
  /** Results that came after the lease was lost and were not written. */
  fenced: number
}

export interface RunnerStats extends Readonly<RunnerCounts> {
  readonly node: number
  readonly held: number
  readonly running: number
  /** The memory that the large ones among the running calls take. */
  readonly bytes: number
  /** Runs that have ended and are not written yet. */
  readonly settling: number
}
