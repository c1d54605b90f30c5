import { Api } from "@scheduling/domain/Api"
import { Unavailable } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { implement } from "../platform/implement.ts"

export const SystemHandlers = implement(
  Api,
  "system",
  Effect.fnUntraced(function* (handlers) {
    const sql = yield* SqlClient.SqlClient
    return handlers.handleAll({
      health: () => Effect.succeed({ status: "ok" } as const),
      ready: () =>
        sql`SELECT 1`.pipe(
          Effect.orDie,
          // A load balancer asks every few seconds, and a frozen database gives no answer at all.
          Effect.timeoutOrElse({
            duration: "3 seconds",
            orElse: () => Effect.die(new Unavailable({ retry_after: 1 }))
          }),
          Effect.as({ status: "ok" } as const)
        )
    })
  })
)
