import { Api } from "@scheduling/domain/Api"
import { Degraded, Unavailable } from "@scheduling/domain/shared/Errors"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { StatsRollUpRepo } from "../tasks/index.ts"
import { implement } from "../http/index.ts"
import { DatabaseClock, timestampOf } from "../store/index.ts"
import { LoopHealth, version } from "../core/index.ts"
import { SelfWatch } from "./SelfWatch.ts"

/**
 * The name under which readiness reports late runs. Late runs are not a failure of any individual
 * loop.
 */
const lateRuns = "starting due runs"

/**
 * The name under which readiness reports that the database clock is in doubt. Work with a due time
 * waits until the doubt has ended.
 */
const steppedClock = "following the clock of the database"

export const SystemHandlers = implement(
  Api,
  "system",
  Effect.fnUntraced(function* (handlers) {
    const sql = yield* SqlClient.SqlClient
    const health = yield* LoopHealth
    const statistics = yield* StatsRollUpRepo
    const watch = yield* SelfWatch
    const clock = yield* DatabaseClock
    const loopsWork = Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const { late_since_ms } = watch.latest()
      const { doubt } = clock
      const failing = [
        ...health.list(nowMs),
        ...(doubt === undefined ? [] : [{ loop: steppedClock, sinceMs: nowMs - doubt.lastsMs }]),
        ...(late_since_ms === null ? [] : [{ loop: lateRuns, sinceMs: late_since_ms }])
      ]
      if (failing.length === 0) return Effect.void
      return Effect.fail(
        new Degraded({
          retry_after: 60,
          failing: failing.map(({ loop, sinceMs }) => ({
            loop,
            since: timestampOf(new Date(sinceMs))
          }))
        })
      )
    })
    const deeply = Effect.gen(function* () {
      yield* loopsWork
      const { oldest_due_seconds, timer_delay_seconds } = watch.latest()
      return {
        status: "ok" as const,
        statistics_lag_seconds: yield* statistics.lagSeconds,
        oldest_due_seconds: Math.floor(oldest_due_seconds),
        timer_delay_ms: Math.round(timer_delay_seconds * 1_000)
      }
    })
    return handlers.handleAll({
      health: () => Effect.succeed({ status: "ok" as const, version }),
      ready: ({ query }) =>
        sql`SELECT 1`.pipe(
          Effect.orDie,
          Effect.andThen(query.deep === "1" ? deeply : Effect.succeed({ status: "ok" as const })),
          // A frozen database never responds. A load balancer sends a request every few seconds,
          // and without a timeout these requests would pile up.
          Effect.timeoutOrElse({
            duration: "3 seconds",
            orElse: () => Effect.die(new Unavailable({ retry_after: 1 }))
          })
        )
    })
  })
)
