import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import type { AuthorizedWorkspaceId } from "../auth/CurrentWorkspace.ts"
import { ApiError, RateLimited } from "../shared/Errors.ts"
import type { WorkerId } from "../shared/Ids.ts"

export class InvalidWorkerToken extends ApiError<InvalidWorkerToken>()("InvalidWorkerToken", {
  status: 401,
  code: "invalid_worker_token",
  message:
    "The request has no valid worker token. Send the header `Authorization: Bearer pwk_...`.",
  headers: () => ({ "www-authenticate": 'Bearer error="invalid_token"' })
}) {}

export class CurrentWorker extends Context.Service<
  CurrentWorker,
  {
    readonly id: WorkerId
    readonly workspace_id: AuthorizedWorkspaceId
    /** The current session of the worker's agent. Null if it has ended. */
    readonly session: number | null
    readonly paused: boolean
    /** The worker's labels for which its agent claims runs. */
    readonly labels: ReadonlyArray<string>
    /** When the token expires because it was rotated. Null if it was not rotated. */
    readonly expires_at: Date | null
  }
>()("@scheduling/domain/workers/CurrentWorker") {}

/** Accepts only worker tokens. No other endpoint accepts worker tokens. */
export class WorkerAuthentication extends HttpApiMiddleware.Service<
  WorkerAuthentication,
  { provides: CurrentWorker }
>()("@scheduling/domain/workers/WorkerAuthentication", {
  requiredForClient: true,
  error: [InvalidWorkerToken, RateLimited]
}) {}
