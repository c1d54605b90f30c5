import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Degraded } from "../shared/Errors.ts"

const Health = Schema.Struct({ status: Schema.Literal("ok") }).annotate({ identifier: "Health" })

const Deep = Schema.Literals(["0", "1"]).annotate({
  description: "`1`: look at the background loops of the node too."
})

export class SystemApi extends HttpApiGroup.make("system")
  .add(
    HttpApiEndpoint.get("health", "/health", { success: Health })
      .annotate(Access, Access.public)
      .annotateMerge(
        docs(
          "Is the process alive?",
          "Answers as long as the process runs; asks nothing of the database."
        )
      ),

    HttpApiEndpoint.get("ready", "/ready", {
      query: { deep: Schema.optionalKey(Deep) },
      success: Health,
      error: Degraded
    })
      .annotate(Access, Access.public)
      .annotateMerge(
        docs(
          "Can it serve?",
          "Asks the database; 503 while that is away or the process is stopping. For load balancers. With `deep=1` it is 503 `degraded` too while a background loop of this node fails again and again, with the loops and since when. For monitoring: a node whose maintenance fails still serves."
        )
      )
  )
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({ title: "System", description: "For load balancers and operators." })
  ) {}
