import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { maskedHeaders } from "@scheduling/domain/calls/credentialHeaders"
import type { StepRequest } from "@scheduling/domain/chains/ChainRun"
import type { Attempt } from "@scheduling/domain/executions/Execution"
import { Conflict, NotFound } from "@scheduling/domain/shared/Errors"
import type { ChainId, ChainRunId, ExecutionId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Result } from "effect"
import { Limits } from "../../plans/index.ts"
import { orNotFound } from "../../core/index.ts"
import { timestampOf } from "../../store/index.ts"
import { shownCall } from "../executions/shownCall.ts"
import { firstStart } from "./chainRun.ts"
import { ChainRunsRepo } from "./ChainRunsRepo.ts"
import { ChainsRepo } from "./ChainsRepo.ts"

/**
 * Reconstructs the requests that the steps of a run sent. They are not stored, but rendered again
 * from the same steps and responses. After the chain has changed, its old steps are gone and the
 * requests are unknown.
 */
export class StepRequests extends Context.Service<
  StepRequests,
  {
    /**
     * Reads what the request of a step depends on, and returns a function that renders the request
     * of each attempt.
     */
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      chainId: ChainId,
      runId: ChainRunId,
      executionId: ExecutionId
    ) => Effect.Effect<
      /** Without `attempt`, renders the request of the first attempt. */
      (attempt?: Pick<Attempt, "number" | "started_at">) => Result.Result<StepRequest, Conflict>,
      NotFound | Conflict
    >
  }
>()("@scheduling/server/tasks/chains/StepRequests") {
  static readonly layer: Layer.Layer<StepRequests, never, ChainRunsRepo | ChainsRepo | Limits> =
    Layer.effect(
      StepRequests,
      Effect.gen(function* () {
        const chains = yield* ChainsRepo
        const limits = yield* Limits
        const runs = yield* ChainRunsRepo

        return StepRequests.of({
          find: Effect.fn("StepRequests.find")(
            function* (workspaceId, chainId, runId, executionId) {
              const chain = yield* foundChain(chains.find(workspaceId, chainId))
              const since = yield* limits.historyFrom(workspaceId)
              const run = yield* foundRun(runs.find(workspaceId, chainId, runId, since))
              const asked = run.steps.find(({ id }) => id === executionId)
              if (asked === undefined || asked.started_at === null) {
                return yield* new NotFound({ resource: "execution" })
              }
              const step = chain.steps.find(({ name }) => name === asked.step)
              const begunAt = firstStart(run)
              if (step === undefined || begunAt === null || chain.updated_at > begunAt) {
                return yield* new Conflict({
                  resource: "chain",
                  message:
                    "The chain was changed after this run started, so its requests are not known."
                })
              }
              const { input } = run.steps[0]
              const values = {
                task: chain,
                input: input === null ? null : JSON.stringify(input),
                steps: new Map(
                  run.steps.flatMap((row) => (row.step === null ? [] : [[row.step, row]]))
                )
              }
              const first = { number: 1, started_at: timestampOf(asked.started_at) }
              return ({ number, started_at } = first) =>
                Result.mapBoth(
                  shownCall(step, {
                    ...values,
                    run: {
                      id: run.id,
                      attempt: number,
                      scheduled_ms: asked.scheduled_for.getTime()
                    },
                    now_ms: Date.parse(started_at)
                  }),
                  {
                    onSuccess: (sent) => ({ ...sent, headers: maskedHeaders(sent.headers) }),
                    onFailure: (problem) =>
                      new Conflict({
                        resource: "execution",
                        message: `The step sent no request: ${problem}.`
                      })
                  }
                )
            }
          )
        })
      })
    )
}

const foundChain = orNotFound("chain")
const foundRun = orNotFound("chain_run")
