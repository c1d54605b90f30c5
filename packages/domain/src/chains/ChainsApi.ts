import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planAllows } from "../billing/Limits.ts"
import { Execution } from "../executions/Execution.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { batchDocs } from "../shared/requests/Batch.ts"
import {
  Conflict,
  IdempotencyConflict,
  NotFound,
  QuotaExceeded,
  RateLimited
} from "../shared/Errors.ts"
import { IdempotencyKey } from "../shared/requests/IdempotencyKey.ts"
import { ChainId, ChainRunId, ExecutionId, inPath, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { OwnKey, upsertDocs } from "../shared/requests/OwnKey.ts"
import { WaitQuery } from "../shared/requests/WaitQuery.ts"
import {
  Chain,
  ChainBatch,
  ChainBatchResult,
  ChainDefinition,
  ChainFilters,
  ChainInput,
  ChainPage,
  ChainUpdate
} from "./Chain.ts"
import { ChainRun, ChainRunDetail, ChainRunPage, StepRequest } from "./ChainRun.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }
const chain = { workspace_id: inPath(WorkspaceId), chain_id: inPath(ChainId) }
const run = { ...chain, run_id: inPath(ChainRunId) }
const execution = { ...chain, execution_id: inPath(ExecutionId) }

export class ChainsApi extends HttpApiGroup.make("chains")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: { ...PageQuery, ...ChainFilters },
      success: ChainPage
    })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(docs("List chains", "The workspace's chains, newest first.")),

    HttpApiEndpoint.post("create", "/", {
      params: workspace,
      headers: IdempotencyKey,
      payload: ChainInput,
      success: Chain.pipe(HttpApiSchema.status(201)),
      error: [Conflict, IdempotencyConflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Create a chain",
          "1 to 50 calls that run one after the other, on a schedule or on request. " +
            planAllows("chains", "chains", 10_000)
        )
      ),

    HttpApiEndpoint.post("createMany", "/batch", {
      params: workspace,
      headers: IdempotencyKey,
      payload: ChainBatch,
      success: ChainBatchResult,
      error: [IdempotencyConflict, NotFound, RateLimited]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(batchDocs("chains")),

    HttpApiEndpoint.put("upsert", "/by-key/:key", {
      params: { ...workspace, key: OwnKey },
      payload: ChainDefinition,
      success: [Chain, Chain.pipe(HttpApiSchema.status(201))],
      error: [Conflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        upsertDocs(
          "a chain",
          "A paused chain stays paused, and runs that have started keep their steps."
        )
      ),

    HttpApiEndpoint.get("get", "/:chain_id", { params: chain, success: Chain, error: NotFound })
      .annotate(Access, Access.scope("tasks:read"))
      .annotateMerge(docs("Get a chain", "The chain, its next fire and its latest run.")),

    HttpApiEndpoint.patch("update", "/:chain_id", {
      params: chain,
      payload: ChainUpdate,
      success: Chain,
      error: [NotFound, Conflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Change a chain",
          "Changes the fields that are given. Runs that have started keep their steps."
        )
      ),

    HttpApiEndpoint.delete("remove", "/:chain_id", { params: chain, error: NotFound })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs("Delete a chain", "Cancels its runs. Its history stays readable under executions.")
      ),

    HttpApiEndpoint.post("run", "/:chain_id/run", {
      params: chain,
      headers: IdempotencyKey,
      success: ChainRun.pipe(HttpApiSchema.status(202)),
      error: [NotFound, IdempotencyConflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Run a chain now",
          "Queues one run, even while the chain is paused or another run is in progress. The " +
            "schedule does not change. A chain has at most 10,000 unfinished runs."
        )
      ),

    HttpApiEndpoint.post("pause", "/:chain_id/pause", {
      params: chain,
      success: Chain,
      error: NotFound
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Pause a chain",
          "The schedule stops firing, and its queued and running runs are cancelled. Pausing " +
            "again changes nothing."
        )
      ),

    HttpApiEndpoint.post("resume", "/:chain_id/resume", {
      params: chain,
      success: Chain,
      error: [NotFound, QuotaExceeded]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Resume a chain",
          "The schedule fires again from now on. Fires during the pause are not made up " +
            "for. Resuming again changes nothing."
        )
      ),

    // A run is execution history with status codes and errors, so it needs the scope of executions.
    HttpApiEndpoint.get("runs", "/:chain_id/runs", {
      params: chain,
      query: PageQuery,
      success: ChainRunPage,
      error: NotFound
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotateMerge(
        docs("List a chain's runs", "The runs with the state of their steps, newest first.")
      ),

    HttpApiEndpoint.get("getRun", "/:chain_id/runs/:run_id", {
      params: run,
      query: WaitQuery,
      success: ChainRunDetail,
      error: NotFound
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotateMerge(
        docs(
          "Get a chain run",
          "One run with the state and the answer of each step. With " +
            "`wait_seconds` the answer comes when the run has ended."
        )
      ),

    // It shows both what the chain defines and what was answered, for which keys have scopes apart.
    HttpApiEndpoint.get("stepRequest", "/:chain_id/runs/:run_id/executions/:execution_id/request", {
      params: { ...run, ...execution },
      success: StepRequest,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.role("viewer"))
      .annotateMerge(
        docs(
          "Get what a step sent",
          "The request of a step that has begun, with the answers of earlier steps filled in. If the " +
            "chain was changed after the run began, the answer is 409: only its present steps are kept."
        )
      ),

    HttpApiEndpoint.post("cancel", "/:chain_id/executions/:execution_id/cancel", {
      params: execution,
      success: Execution,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("tasks:write"))
      .annotateMerge(
        docs(
          "Cancel an execution",
          "Ends a step's queued or running execution and with it the run: no later step " +
            "starts. A running call is cut off, so the answer may still say `running`. If it has " +
            "ended in another way, the answer is 409."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/chains")
  .annotateMerge(
    OpenApi.annotations({
      title: "Chains",
      description:
        "HTTP calls that run one after the other and may use the answers of earlier ones."
    })
  ) {}
