import { Clock, DateTime, Effect, Exit, Random } from "effect"
import { failureReason, type ServiceRejection, findServiceRejection } from "../ServiceRejection.ts"
import type { Problem } from "../status/Status.ts"
import { backoffMs } from "./backoff.ts"

const logEveryMs = 60_000

/** Retries requests to the service, and knows the current problem. */
export interface Retries {
  /**
   * Retries a request until the service responds. A problem is logged immediately, when it changes,
   * every minute while it continues, and when it ends.
   */
  readonly untilAnswered: <A, E, R>(
    what: string,
    request: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, ServiceRejection, R>
  readonly problem: () => Problem | null
}

/** Creates the retries of an agent. `onFailure` runs after each failure. */
export const makeRetries = (onFailure: Effect.Effect<void>): Retries => {
  /** The current problems by request, oldest first. */
  const problems = new Map<string, Problem>()

  const repeat = Effect.fnUntraced(function* <A, E, R>(
    what: string,
    request: Effect.Effect<A, E, R>
  ) {
    let logged = { reason: "", atMs: -Infinity }
    for (let failures = 1; ; failures++) {
      const exit = yield* Effect.exit(request)
      if (Exit.isSuccess(exit)) {
        if (failures > 1) yield* Effect.logInfo(`${what}: the service responds again`)
        return exit.value
      }
      const refusal = findServiceRejection(exit)
      if (refusal !== undefined) return yield* Effect.fail(refusal)
      const reason = failureReason(exit)
      const { since } = problems.get(what) ?? { since: DateTime.formatIso(yield* DateTime.now) }
      problems.set(what, { since, reason })
      const nowMs = yield* Clock.currentTimeMillis
      if (reason !== logged.reason || nowMs - logged.atMs >= logEveryMs) {
        const still = reason === logged.reason ? ` since ${since}` : ""
        yield* Effect.logWarning(`${what}: ${reason}${still}; retrying`)
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
