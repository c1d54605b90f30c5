import { Api } from "@scheduling/domain/Api"
import { Degraded, Unavailable } from "@scheduling/domain/shared/Errors"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { implement } from "../platform/implement.ts"
import { timestampOf } from "../platform/timestamp.ts"
import { LoopHealth } from "../runner/Loop.ts"

export const SystemHandlers = implement(
  Api,
  "system",
  Effect.fnUntraced(function* (handlers) {
    const sql = yield* SqlClient.SqlClient
    const health = yield* LoopHealth
    const loopsWork = Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const failing = health.list(nowMs)
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
    return handlers.handleAll({
      health: () => Effect.succeed({ status: "ok" } as const),
      ready: ({ query }) =>
        sql`SELECT 1`.pipe(
          Effect.orDie,
          // A load balancer asks every few seconds, and a frozen database gives no answer at all.
          Effect.timeoutOrElse({
            duration: "3 seconds",
            orElse: () => Effect.die(new Unavailable({ retry_after: 1 }))
          }),
          Effect.andThen(query.deep === "1" ? loopsWork : Effect.void),
          Effect.as({ status: "ok" } as const)
        )
    })
  })
)
