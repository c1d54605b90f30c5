import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"

const Health = Schema.Struct({ status: Schema.Literal("ok") }).annotate({ identifier: "Health" })

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

    HttpApiEndpoint.get("ready", "/ready", { success: Health })
      .annotate(Access, Access.public)
      .annotateMerge(
        docs(
          "Can it serve?",
          "Asks the database; 503 while that is away or the process is stopping."
        )
      )
  )
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({ title: "System", description: "For load balancers and operators." })
  ) {}
