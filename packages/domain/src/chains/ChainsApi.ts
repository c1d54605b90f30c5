import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { planLimitSentence } from "../billing/Limits.ts"
import { versionEndpoints } from "../definitions/versionEndpoints.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, NotFound } from "../shared/Errors.ts"
import { ChainId, ChainRunId, ExecutionId, idInPath, WorkspaceId } from "../shared/Ids.ts"
import { Internal } from "../shared/Internal.ts"
import { idOrKey } from "../shared/requests/CallerChosenKey.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { WaitQuery } from "../shared/requests/WaitQuery.ts"
import { scheduledEndpoints, taskEndpoints } from "../tasks/taskEndpoints.ts"
import { triggerEndpoints } from "../tasks/triggerEndpoints.ts"
import { uptimeEndpoints } from "../tasks/uptimeEndpoints.ts"
import {
  Chain,
  ChainBatch,
  ChainBatchResult,
  ChainDefinition,
  ChainInput,
  ChainPage,
  ChainQuery,
  ChainUpdate
} from "./Chain.ts"
import { ChainRun, ChainRunDetail, ChainRunPage, StepRequest } from "./ChainRun.ts"

const params = { workspace_id: idInPath(WorkspaceId), chain_id: idOrKey(ChainId, "chain") }
const run = { ...params, run_id: idInPath(ChainRunId) }
const noun = "a chain"
const path = "/:chain_id"

const chains = taskEndpoints({
  noun,
  path,
  params,
  query: ChainQuery,
  schemas: {
    task: Chain,
    input: ChainInput,
    definition: ChainDefinition,
    page: ChainPage,
    batch: ChainBatch,
    batchResult: ChainBatchResult
  },
  texts: {
    list: "The workspace's chains, newest first.",
    create:
      "1 to 50 calls that run one after the other, on a schedule or on request. " +
      planLimitSentence("chains", "chains", 10_000),
    upsert: "A paused chain stays paused, and runs that have started keep their steps.",
    get: "The chain, its next scheduled run and its latest run."
  }
})

export class ChainsApi extends HttpApiGroup.make("chains")
  .add(
    chains.list,
    chains.create,
    chains.createMany,
    chains.upsert,
    chains.get,
    ...scheduledEndpoints({
      noun,
      path,
      params,
      schemas: { task: Chain, update: ChainUpdate, run: ChainRun },
      texts: {
        update: "Runs that have started keep their steps.",
        remove: "Cancels the runs of the chain. Its history stays available under executions.",
        run:
          "Queues one run, even while the chain is paused or another run is in progress. The " +
          "schedule does not change. A chain can have at most 10,000 unfinished runs.",
        pause: "The schedule stops firing, and its queued and running runs are cancelled.",
        backfill: "Queues a run"
      }
    }),

    ...triggerEndpoints({ noun, path, params }),

    ...uptimeEndpoints({ noun, path, params }),

    ...versionEndpoints({
      noun,
      path,
      params,
      record: Chain,
      read: Access.scope("tasks:read"),
      write: Access.scope("tasks:write")
    }),

    // A run is execution history with status codes and errors, so it requires the executions scope.
    HttpApiEndpoint.get("listRuns", "/:chain_id/runs", {
      params,
      query: PageQuery,
      success: ChainRunPage,
      error: NotFound
    })
      .annotate(Access, Access.scope("executions:read"))
      .annotateMerge(
        docs("List a chain's runs", "The runs with the status of each step, newest first.")
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
          "One run with the status and the response of each step. With " +
            "`wait_seconds`, the response waits until the run has finished."
        )
      ),

    // Returns both the chain's definition and response data. API keys have separate scopes for
    // these, so only members have access.
    HttpApiEndpoint.get("stepRequest", "/:chain_id/runs/:run_id/executions/:execution_id/request", {
      params: { ...run, execution_id: idInPath(ExecutionId) },
      success: StepRequest,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.role("viewer"))
      .annotate(Internal, true)
      .annotateMerge(
        docs(
          "Get a step's request",
          "The request of a step that has started, with the responses of earlier steps filled in. If the " +
            "chain was changed after the run started, the response is 409, because only its current steps are stored."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/chains")
  .annotateMerge(
    OpenApi.annotations({
      title: "Chains",
      description: "HTTP calls that run one after the other and may use earlier responses."
    })
  ) {}
