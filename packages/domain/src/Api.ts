import { HttpApi, OpenApi } from "effect/http-api"
import { ApiKeysApi } from "./api-keys/ApiKeysApi.ts"
import { AuthApi } from "./auth/AuthApi.ts"
import { ChainsApi } from "./chains/ChainsApi.ts"
import { CronApi } from "./cron/CronApi.ts"
import { DelayedApi } from "./delayed/DelayedApi.ts"
import { ExecutionsApi } from "./executions/ExecutionsApi.ts"
import { ErrorShape } from "./shared/ErrorShape.ts"
import { SystemApi } from "./system/SystemApi.ts"
import { WorkspacesApi } from "./workspaces/WorkspacesApi.ts"

/** Everything that crosses the wire, one group for each noun. */
export class Api extends HttpApi.make("scheduling")
  .add(AuthApi, WorkspacesApi, ApiKeysApi, CronApi, DelayedApi, ChainsApi, ExecutionsApi, SystemApi)
  .middleware(ErrorShape)
  .annotate(HttpApi.ParamsParseOptions, { errors: "all" })
  .annotate(HttpApi.QueryParseOptions, { errors: "all", onExcessProperty: "error" })
  .annotate(HttpApi.PayloadParseOptions, { errors: "all", onExcessProperty: "error" })
  // What leaves was checked when it came in: the checks again cost a third of a list's encoding.
  .annotate(HttpApi.SuccessParseOptions, { disableChecks: true })
  .annotateMerge(
    OpenApi.annotations({
      title: "Scheduling Service",
      version: "1.0.0",
      description: "Runs scheduled HTTP work: cron tasks, delayed tasks and chains."
    })
  ) {}
