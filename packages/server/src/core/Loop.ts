import { Cause, Clock, Context, Duration, Effect, Exit, Fiber } from "effect"

export interface LoopOptions<A> {
  readonly between?: (result: A) => Effect.Effect<void>
  readonly pauseAtMost?: Duration.Input
  /**
   * The maximum duration of an iteration. If an iteration takes longer, it is interrupted and the
   * loop is restarted. If undefined, an iteration may take forever.
   */
  readonly stuckAfterMinutes?: number
}

/**
 * Options of loops whose iterations finish within about a minute. Statements time out after 30 s.
 */
export const stuckRestartOptions = { stuckAfterMinutes: 5 }

/**
 * Repeats `body` until interrupted. After a failure, such as a lost database, it pauses with a
 * backoff. The log reports the first failure, then one per minute, and the recovery.
 */
export const loop = <A, E, R>(
  name: string,
  body: Effect.Effect<A, E, R>,
  { between = () => Effect.void, pauseAtMost = "2 seconds", stuckAfterMinutes }: LoopOptions<A> = {}
): Effect.Effect<never, never, R> =>
  Effect.flatMap(LoopHealth, (health) => {
    const longestMs = Duration.toMillis(pauseAtMost)
    const reporter = makeReporter(health, name, "; retrying")
    let turns = 0
    const endless = body.pipe(
      Effect.tap(() => {
        turns++
        return reporter.succeeded
      }),
      Effect.flatMap(between),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause as Cause.Cause<never>)
          : Effect.flatMap(reporter.failed(cause, longestMs), Effect.sleep)
      ),
      Effect.forever
    )
    if (stuckAfterMinutes === undefined) return endless
    const limit = Math.round((stuckAfterMinutes * 60_000) / sampleMs)
    /**
     * Waits until the loop is stuck. Samples without progress are counted instead of elapsed time,
     * because a change of the system clock must not count as a hang.
     */
    const untilStuck = Effect.gen(function* () {
      let seen = -1
      for (let still = 0; still < limit; still++) {
        if (turns !== seen) still = 0
        seen = turns
        health.noteStuck(name, still * sampleMs)
        yield* Effect.sleep(sampleMs)
      }
      health.restarts++
      health.noteStuck(name, 0)
      yield* Effect.logError(`${name}: no progress for ${stuckAfterMinutes} minutes; restarting`)
    })
    return Effect.forever(
      Effect.acquireUseRelease(
        Effect.forkDetach(endless),
        (running) => Effect.raceFirst(Fiber.join(running), untilStuck),
        // If the work can neither finish nor be interrupted, it is abandoned.
        (running) =>
          Effect.interruptible(Fiber.interrupt(running)).pipe(
            Effect.timeout("10 seconds"),
            Effect.ignore
          )
      )
    )
  })

/**
 * Reports failures of work that runs occasionally, in the same way as `loop` reports failed
 * iterations.
 */
export const reportFailures = <A, E, R>(
  name: string,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(LoopHealth, (health) => {
    const reporter = makeReporter(health, name, "")
    return work.pipe(
      Effect.tap(() => reporter.succeeded),
      Effect.tapCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.void : reporter.failed(cause, 0)
      )
    )
  })

const makeReporter = (health: LoopFailures, name: string, then: string) => ({
  succeeded: Effect.suspend(() => {
    const failures = health.succeed(name)
    return failures === 0
      ? Effect.void
      : Effect.logInfo(`${name}: recovered after ${failures} failures`)
  }),
  /** Records a failure. Returns the length of the pause before the next iteration. */
  failed: Effect.fnUntraced(function* (cause: Cause.Cause<unknown>, longestPauseMs: number) {
    const { failures, isReportedNow, pauseMs } = health.fail(
      name,
      yield* Clock.currentTimeMillis,
      longestPauseMs
    )
    if (isReportedNow) {
      const count = failures === 1 ? "" : ` ${failures} times in a row`
      yield* Effect.logWarning(`${name}: failed${count}: ${shortMessage(cause)}${then}`)
    }
    return pauseMs
  })
})

/**
 * Runs all effects in sequence, even if some fail or die. Fails at the end if any effect failed.
 * `Effect.validate` would stop at a defect.
 */
export const runAllInSequence = <E, R>(
  duties: ReadonlyArray<Effect.Effect<unknown, E, R>>
): Effect.Effect<void, E, R> => Effect.flatMap(Effect.forEach(duties, Effect.exit), Exit.asVoidAll)

/** How often a loop is checked for progress. */
const sampleMs = 30_000

/**
 * A loop that makes no progress for longer than this is listed as stuck. A healthy loop iterates
 * every minute, even without work.
 */
const stuckAfterMs = 120_000

interface Failing {
  readonly sinceMs: number
  lastMs: number
  failures: number
  reportedMs: number
  pauseMs: number
}

/**
 * The loops of a node that are failing or stuck. Some loops have a body that returns only when it
 * fails, so a loop counts as recovered once it has not failed for longer than a statement can take.
 */
export class LoopFailures {
  readonly #failing = new Map<string, Failing>()
  readonly #stuck = new Map<string, number>()

  /** How many times loops were restarted because they made no progress. */
  restarts = 0

  /** Records how long a loop has made no progress. */
  noteStuck(name: string, forMs: number): void {
    if (forMs < stuckAfterMs) this.#stuck.delete(name)
    else this.#stuck.set(name, forMs)
  }

  succeed(name: string): number {
    const failures = this.#failing.get(name)?.failures ?? 0
    this.#failing.delete(name)
    return failures
  }

  fail(name: string, nowMs: number, longestPauseMs: number) {
    const before = this.#failing.get(name)
    const goesOn = before !== undefined && isRecent(before, nowMs)
    const failing = goesOn
      ? before
      : { sinceMs: nowMs, lastMs: nowMs, failures: 0, reportedMs: -Infinity, pauseMs: 0 }
    failing.lastMs = nowMs
    failing.failures++
    failing.pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (failing.failures - 1))
    const isReportedNow = nowMs - failing.reportedMs >= reportEveryMs
    if (isReportedNow) failing.reportedMs = nowMs
    this.#failing.set(name, failing)
    return { failures: failing.failures, isReportedNow, pauseMs: failing.pauseMs }
  }

  /**
   * Lists the loops that make no progress, and the loops that failed more than once in a row. A
   * single failure may just be a broken connection.
   */
  list(nowMs: number): ReadonlyArray<{ readonly loop: string; readonly sinceMs: number }> {
    const failing = [...this.#failing].flatMap(([loop, one]) =>
      one.failures > 1 && isRecent(one, nowMs) ? [{ loop, sinceMs: one.sinceMs }] : []
    )
    const stuck = [...this.#stuck].map(([loop, ms]) => ({ loop, sinceMs: nowMs - ms }))
    return [...failing, ...stuck]
  }
}

/**
 * The state of the loops of one node. A process has one such state, unless each of its nodes
 * provides its own.
 */
export const LoopHealth = Context.Reference<LoopFailures>("@scheduling/server/core/LoopHealth", {
  defaultValue: () => new LoopFailures()
})

const firstPauseMs = 300
const reportEveryMs = 60_000

/**
 * How long after its pause a failing loop must run without another failure to count as recovered. A
 * failure can take up to 35 s to appear: statements time out after 30 s, and silent connections are
 * closed after 35 s.
 */
const silenceMs = 40_000

const isRecent = ({ lastMs, pauseMs }: Failing, nowMs: number) =>
  nowMs - lastMs <= pauseMs + silenceMs

/**
 * Returns only the message of the error, because the details of PostgreSQL's errors contain values
 * of rows, which must not be logged.
 */
export const shortMessage = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}

/**
 * Wakes the only loop that waits for this waker. If the loop is not waiting, the wake-up is kept
 * for its next wait.
 */
export class Waker {
  #isAwake = false
  #waiting: (() => void) | undefined

  wake(): void {
    if (this.#waiting === undefined) this.#isAwake = true
    else this.#waiting()
  }

  wait(atMostMs: number): Effect.Effect<void> {
    return Effect.raceFirst(this.#woken, Effect.sleep(Math.max(0, atMostMs)))
  }

  readonly #woken = Effect.callback<void>((resume) => {
    if (this.#isAwake) {
      this.#isAwake = false
      resume(Effect.void)
      return
    }
    this.#waiting = () => {
      this.#waiting = undefined
      resume(Effect.void)
    }
    return Effect.sync(() => {
      this.#waiting = undefined
    })
  })
}
