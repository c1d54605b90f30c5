import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planAllows } from "../billing/Limits.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { NotFound, QuotaExceeded, RateLimited } from "../shared/Errors.ts"
import { inPath, WorkerId, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import {
  CreatedWorker,
  LeakedWorkerToken,
  Worker,
  WorkerInput,
  WorkerPage,
  WorkerRotation,
  WorkerUpdate
} from "./Worker.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }
const worker = { workspace_id: inPath(WorkspaceId), worker_id: inPath(WorkerId) }

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
          "Only this answer contains the token with which the agent starts. " +
            planAllows("workers", "workers", 1_000)
        )
      ),

    HttpApiEndpoint.get("get", "/:worker_id", { params: worker, success: Worker, error: NotFound })
      .annotate(Access, Access.role("viewer"))
      .annotateMerge(docs("Get a worker", "The worker, with the details that its agent has sent.")),

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
          "The worker's tokens stop working at once. Other workers start its runs again."
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
      payload: WorkerRotation,
      success: CreatedWorker.pipe(HttpApiSchema.status(201)),
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Rotate a worker's token",
          "Creates a new token. The old token works for `grace_seconds` more, and older tokens stop " +
            "working at once. Without grace, other workers start the worker's runs again."
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
          "For anybody who finds a token in public: the token stops working at once, and other workers start its worker's runs again. The answer is always 204, also if the token does not exist. An address can send 100 of these requests in 15 minutes, including those for API keys."
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
