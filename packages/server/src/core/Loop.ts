import { Cause, Clock, Context, Duration, Effect, Exit, Fiber } from "effect"

export interface LoopOptions<A> {
  /** Runs between two turns. */
  readonly between?: (result: A) => Effect.Effect<void>
  /** The longest pause after a failure. */
  readonly pauseAtMost?: Duration.Input
  /** A turn that takes longer is cut off, and the loop begins again. If absent, it may last. */
  readonly stuckAfterMinutes?: number
}

/** Of loops whose turns end within a minute or so. Statements end after half of one. */
export const mayBeStuck = { stuckAfterMinutes: 5 }

/**
 * Repeats `body` until interrupted. After a failure, such as a lost database, it pauses, longer
 * each time. Failures are logged when they begin, once per minute while they go on, and when they
 * are over.
 */
export const loop = <A, E, R>(
  name: string,
  body: Effect.Effect<A, E, R>,
  { between = () => Effect.void, pauseAtMost = "2 seconds", stuckAfterMinutes }: LoopOptions<A> = {}
): Effect.Effect<never, never, R> =>
  Effect.flatMap(LoopHealth, (health) => {
    const longestMs = Duration.toMillis(pauseAtMost)
    const told = tellingOf(health, name, "; trying again")
    let turns = 0
    const endless = body.pipe(
      Effect.tap(() => {
        turns++
        return told.succeeded
      }),
      Effect.flatMap(between),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause as Cause.Cause<never>)
          : Effect.flatMap(told.failed(cause, longestMs), Effect.sleep)
      ),
      Effect.forever
    )
    if (stuckAfterMinutes === undefined) return endless
    const limit = Math.round((stuckAfterMinutes * 60_000) / sampleMs)
    /** Counts samples in which nothing moved, because a clock that is set is no sign of a fault. */
    const untilStuck = Effect.gen(function* () {
      let seen = -1
      for (let still = 0; still < limit; still++) {
        if (turns !== seen) still = 0
        seen = turns
        health.stand(name, still * sampleMs)
        yield* Effect.sleep(sampleMs)
      }
      health.restarts++
      health.stand(name, 0)
      yield* Effect.logError(`${name}: did not move for ${stuckAfterMinutes} minutes; begins again`)
    })
    return Effect.forever(
      Effect.acquireUseRelease(
        Effect.forkDetach(endless),
        (running) => Effect.raceFirst(Fiber.join(running), untilStuck),
        // What waits for something that never comes, and may not be interrupted, is left behind.
        (running) =>
          Effect.interruptible(Fiber.interrupt(running)).pipe(
            Effect.timeout("10 seconds"),
            Effect.ignore
          )
      )
    )
  })

/** Tells of the failures of what is done now and then as `loop` tells of those of its turns. */
export const telling = <A, E, R>(
  name: string,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(LoopHealth, (health) => {
    const told = tellingOf(health, name, "")
    return work.pipe(
      Effect.tap(() => told.succeeded),
      Effect.tapCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.void : told.failed(cause, 0)
      )
    )
  })

const tellingOf = (health: Failures, name: string, then: string) => ({
  succeeded: Effect.suspend(() => {
    const failures = health.succeed(name)
    return failures === 0
      ? Effect.void
      : Effect.logInfo(`${name}: works again after ${failures} failures`)
  }),
  /** Returns for how long to pause. */
  failed: Effect.fnUntraced(function* (cause: Cause.Cause<unknown>, longestPauseMs: number) {
    const { failures, isToldNow, pauseMs } = health.fail(
      name,
      yield* Clock.currentTimeMillis,
      longestPauseMs
    )
    if (isToldNow) {
      const count = failures === 1 ? "" : ` ${failures} times in a row`
      yield* Effect.logWarning(`${name}: failed${count}: ${briefly(cause)}${then}`)
    }
    return pauseMs
  })
})

/**
 * Does one after the other, and all of them even if some fail or die, which would end
 * `Effect.validate`. It fails then, too.
 */
export const eachInTurn = <E, R>(
  duties: ReadonlyArray<Effect.Effect<unknown, E, R>>
): Effect.Effect<void, E, R> => Effect.flatMap(Effect.forEach(duties, Effect.exit), Exit.asVoidAll)

/** How often a loop that may be stuck is looked at. */
const sampleMs = 30_000

/** A healthy loop takes a turn every minute, even if there is nothing to do. */
const standsAfterMs = 120_000

interface Failing {
  readonly sinceMs: number
  lastMs: number
  failures: number
  toldMs: number
  pauseMs: number
}

/**
 * The loops that currently fail. Some have bodies that do not end as long as all is well. So a loop
 * counts as working again once it has not failed for longer than a statement can take.
 */
export class Failures {
  readonly #failing = new Map<string, Failing>()
  readonly #standing = new Map<string, number>()

  /** How often a loop was begun anew because it did not move. */
  restarts = 0

  /** Notes for how long a loop has not moved. */
  stand(name: string, forMs: number): void {
    if (forMs < standsAfterMs) this.#standing.delete(name)
    else this.#standing.set(name, forMs)
  }

  /** Returns how often it had failed in a row. */
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
      : { sinceMs: nowMs, lastMs: nowMs, failures: 0, toldMs: -Infinity, pauseMs: 0 }
    failing.lastMs = nowMs
    failing.failures++
    failing.pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (failing.failures - 1))
    const isToldNow = nowMs - failing.toldMs >= tellEveryMs
    if (isToldNow) failing.toldMs = nowMs
    this.#failing.set(name, failing)
    return { failures: failing.failures, isToldNow, pauseMs: failing.pauseMs }
  }

  /**
   * Lists the loops that do not move, and those that failed more than once in a row. A single failure
   * may just be a broken connection that is made anew.
   */
  list(nowMs: number): ReadonlyArray<{ readonly loop: string; readonly sinceMs: number }> {
    const failing = [...this.#failing].flatMap(([loop, one]) =>
      one.failures > 1 && isRecent(one, nowMs) ? [{ loop, sinceMs: one.sinceMs }] : []
    )
    const standing = [...this.#standing].map(([loop, ms]) => ({ loop, sinceMs: nowMs - ms }))
    return [...failing, ...standing]
  }
}

/** The loops of one node. The default holds those of the whole process. */
export const LoopHealth = Context.Reference<Failures>("@scheduling/server/core/LoopHealth", {
  defaultValue: () => new Failures()
})

const firstPauseMs = 300
const tellEveryMs = 60_000

/** Statements end after 30 s, and connections are given up after 35. */
const silenceMs = 40_000

const isRecent = ({ lastMs, pauseMs }: Failing, nowMs: number) =>
  nowMs - lastMs <= pauseMs + silenceMs

/** Only the message, because PostgreSQL's details contain the values of rows. */
export const briefly = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}

/** Wakes the one loop that waits. A ring while nobody waits is kept. */
export class Doorbell {
  #rung = false
  #waiting: (() => void) | undefined

  ring(): void {
    if (this.#waiting === undefined) this.#rung = true
    else this.#waiting()
  }

  wait(atMostMs: number): Effect.Effect<void> {
    return Effect.raceFirst(this.#rings, Effect.sleep(Math.max(0, atMostMs)))
  }

  readonly #rings = Effect.callback<void>((resume) => {
    if (this.#rung) {
      this.#rung = false
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
