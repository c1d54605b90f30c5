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
      .annotateMerge(docs("List workers", "The workspace's workers, newest first.")),

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
          "The answer carries the token that its agent starts with, once. " +
            planAllows("workers", "workers", 1_000)
        )
      ),

    HttpApiEndpoint.get("get", "/:worker_id", { params: worker, success: Worker, error: NotFound })
      .annotate(Access, Access.role("viewer"))
      .annotateMerge(docs("Get a worker", "The worker, and what its agent says of itself.")),

    HttpApiEndpoint.patch("update", "/:worker_id", {
      params: worker,
      payload: WorkerUpdate,
      success: Worker,
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Change a worker",
          "New labels apply from the next run it takes. Runs that it holds go on."
        )
      ),

    HttpApiEndpoint.delete("remove", "/:worker_id", { params: worker, error: NotFound })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Delete a worker",
          "Its tokens stop working at once. Runs that it holds start on other workers."
        )
      ),

    HttpApiEndpoint.post("pause", "/:worker_id/pause", {
      params: worker,
      success: Worker,
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(docs("Pause a worker", "It takes no more runs. Runs that it holds go on.")),

    HttpApiEndpoint.post("resume", "/:worker_id/resume", {
      params: worker,
      success: Worker,
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(docs("Resume a worker", "It takes runs again.")),

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
          "Makes a new token. The old token works for `grace_seconds` more; an even older one stops " +
            "working at once. Without grace, runs that the worker holds start on other workers."
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
          "For whoever finds a token where it should not be. The token stops working at once. Runs that its worker holds start on other workers. The answer is 204 whether or not there was such a token. An address may send 100 in 15 minutes, leaked API keys included."
        )
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Workers",
      description:
        "Agents that run where the service cannot reach: they make the calls of tasks with `run_on`."
    })
  ) {}
