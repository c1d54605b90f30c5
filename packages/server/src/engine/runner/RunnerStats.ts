/** Counts since the process started. */
export interface RunnerCounts {
  fired: number
  claimed: number
  started: number
  succeeded: number
  failed: number
  retried: number
  cancelled: number
  skipped: number
  /** Results discarded because the lease was lost. */
  fenced: number
}

export interface RunnerStats extends Readonly<RunnerCounts> {
  readonly node: number
  readonly held: number
  readonly running: number
  /** The number of bytes that large running calls use. */
  readonly bytes: number
  /** The number of results that are not written yet. */
  readonly settling: number
}
