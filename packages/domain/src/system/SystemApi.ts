import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Degraded } from "../shared/Errors.ts"

const Health = Schema.Struct({
  status: Schema.Literal("ok").annotate({ description: "Always `ok`." }),
  version: Schema.String.annotate({ description: "The version of the service." })
}).annotate({ identifier: "Health", examples: [{ status: "ok", version: "0.1.0" }] })

const Ready = Schema.Struct({
  status: Schema.Literal("ok").annotate({ description: "Always `ok`." }),
  statistics_lag_seconds: Schema.optionalKey(
    Schema.Int.annotate({
      description:
        "With `deep=1`: the age in seconds of the oldest finished execution that is not yet rolled up. Statistics stay exact, but become slower as the backlog grows."
    })
  ),
  oldest_due_seconds: Schema.optionalKey(
    Schema.Int.annotate({
      description:
        "With `deep=1`: how many seconds the oldest due run has waited for a node, across the service."
    })
  ),
  timer_delay_ms: Schema.optionalKey(
    Schema.Int.annotate({
      description: "With `deep=1`: the delay of this node's timers, which start runs."
    })
  )
}).annotate({
  identifier: "Readiness",
  examples: [
    { status: "ok" },
    { status: "ok", statistics_lag_seconds: 42, oldest_due_seconds: 0, timer_delay_ms: 1 }
  ]
})

const Deep = Schema.Literals(["0", "1"]).annotate({
  description: "`1`: also check the background loops of the node."
})

export class SystemApi extends HttpApiGroup.make("system")
  .add(
    HttpApiEndpoint.get("health", "/health", { success: Health })
      .annotate(Access, Access.public)
      .annotateMerge(
        docs(
          "Is the process alive?",
          "Returns 200 while the process runs, without querying the database."
        )
      ),

    HttpApiEndpoint.get("ready", "/ready", {
      query: { deep: Schema.optionalKey(Deep) },
      success: Ready,
      error: Degraded
    })
      .annotate(Access, Access.public)
      .annotateMerge(
        docs(
          "Is the service ready?",
          "Queries the database. Returns 503 while the database is unavailable or the process is stopping. Use it for load balancers. With `deep=1` it also returns 503 `degraded` while a background loop of this node keeps failing, with the name of each failing loop and when it started to fail, or while due runs have been waiting for more than a minute. Otherwise, the response shows how far behind the statistics roll-up is. Use `deep=1` for monitoring: a node whose maintenance fails still serves requests."
        )
      )
  )
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({ title: "System", description: "For load balancers and operators." })
  ) {}
