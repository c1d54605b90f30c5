import { Clock, DateTime, Effect, Exit, Random } from "effect"
import { reasonOf, type Refusal, refusalIn } from "../refusals.ts"
import type { Problem } from "../status/Status.ts"
import { backoffMs } from "./backoff.ts"

/** A problem that continues is logged again after this time. */
const logEveryMs = 60_000

/** Retries requests while the service is unreachable. */
export interface Retries {
  /**
   * Retries a request until the service answers. Logs a problem at once, whenever it changes, every
   * minute while it continues, and when it is solved.
   */
  readonly untilAnswered: <A, E, R>(
    what: string,
    request: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, Refusal, R>
  /** The problem that has continued for the longest time. */
  readonly problem: () => Problem | null
}

/** `onFailure` runs after each failure. */
export const makeRetries = (onFailure: Effect.Effect<void>): Retries => {
  /** The problems by request, the oldest first. */
  const problems = new Map<string, Problem>()

  const repeat = Effect.fnUntraced(function* <A, E, R>(
    what: string,
    request: Effect.Effect<A, E, R>
  ) {
    let logged = { reason: "", atMs: -Infinity }
    for (let failures = 1; ; failures++) {
      const exit = yield* Effect.exit(request)
      if (Exit.isSuccess(exit)) {
        if (failures > 1) yield* Effect.logInfo(`${what}: the service answers again`)
        return exit.value
      }
      const refusal = refusalIn(exit)
      if (refusal !== undefined) return yield* Effect.fail(refusal)
      const reason = reasonOf(exit)
      const { since } = problems.get(what) ?? { since: DateTime.formatIso(yield* DateTime.now) }
      problems.set(what, { since, reason })
      const nowMs = yield* Clock.currentTimeMillis
      if (reason !== logged.reason || nowMs - logged.atMs >= logEveryMs) {
        const still = reason === logged.reason ? ` since ${since}` : ""
        yield* Effect.logWarning(`${what}: ${reason}${still}; trying again`)
        logged = { reason, atMs: nowMs }
      }
      yield* onFailure
      yield* Effect.sleep(backoffMs(failures, yield* Random.next))
    }
  })

  return {
    untilAnswered: (what, request) =>
      Effect.ensuring(
        repeat(what, request),
        Effect.sync(() => problems.delete(what))
      ),
    problem: () => [...problems.values()][0] ?? null
  }
}
