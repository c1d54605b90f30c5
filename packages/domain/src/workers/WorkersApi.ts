import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planLimitSentence } from "../billing/Limits.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { NotFound, QuotaExceeded, RateLimited } from "../shared/Errors.ts"
import { idInPath, WorkerId, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import {
  CreatedWorker,
  LeakedWorkerToken,
  Worker,
  WorkerInput,
  WorkerPage,
  WorkerTokenRotation,
  WorkerUpdate
} from "./Worker.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const worker = { workspace_id: idInPath(WorkspaceId), worker_id: idInPath(WorkerId) }

export class WorkersApi extends HttpApiGroup.make("workers")
  .add(
    HttpApiEndpoint.get("list", "/", { params: workspace, query: PageQuery, success: WorkerPage })
      .annotate(Access, Access.role("viewer"))
      .annotateMerge(docs("List workers", "The workers of the workspace, newest first.")),

    HttpApiEndpoint.post("create", "/", {
      params: workspace,
      payload: WorkerInput,
      success: CreatedWorker.pipe(HttpApiSchema.status(201)),
      error: QuotaExceeded
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Create a worker",
          "Only this response contains the token with which the agent starts. " +
            planLimitSentence("workers", "workers", 1_000)
        )
      ),

    HttpApiEndpoint.get("get", "/:worker_id", { params: worker, success: Worker, error: NotFound })
      .annotate(Access, Access.role("viewer"))
      .annotateMerge(docs("Get a worker", "The worker, with the details that its agent reports.")),

    HttpApiEndpoint.patch("update", "/:worker_id", {
      params: worker,
      payload: WorkerUpdate,
      success: Worker,
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs("Change a worker", "New labels apply to the next claim. Runs in progress continue.")
      ),

    HttpApiEndpoint.delete("delete", "/:worker_id", { params: worker, error: NotFound })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Delete a worker",
          "The worker's tokens stop working immediately. Other workers restart its runs."
        )
      ),

    HttpApiEndpoint.post("pause", "/:worker_id/pause", {
      params: worker,
      success: Worker,
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs("Pause a worker", "The worker claims no more runs. Runs in progress continue.")
      ),

    HttpApiEndpoint.post("resume", "/:worker_id/resume", {
      params: worker,
      success: Worker,
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(docs("Resume a worker", "The worker claims runs again.")),

    HttpApiEndpoint.post("rotate", "/:worker_id/rotate", {
      params: worker,
      payload: WorkerTokenRotation,
      success: CreatedWorker.pipe(HttpApiSchema.status(201)),
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Rotate a worker's token",
          "Creates a new token. The old token keeps working for `grace_seconds`, and older tokens stop " +
            "working immediately. Without a grace period, other workers restart the worker's runs."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/workers")
  .add(
    HttpApiEndpoint.post("revokeLeaked", "/v1/workers/revoke", {
      payload: LeakedWorkerToken,
      error: RateLimited
    })
      .annotate(Access, Access.public)
      .annotateMerge(
        docs(
          "Revoke a leaked worker token",
          "For anyone who finds a leaked token: the token stops working immediately, and other workers restart its worker's runs. The response is always 204, even if the token does not exist. An IP address can send 100 of these requests in 15 minutes, including requests for API keys."
        )
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Workers",
      description:
        "Workers make the calls of tasks with `run_on` from networks that the service cannot reach."
    })
  ) {}
