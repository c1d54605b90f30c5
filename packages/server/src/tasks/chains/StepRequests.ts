import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { maskedMessageHeaders } from "@scheduling/domain/calls/credentialHeaders"
import { isCallStep } from "@scheduling/domain/chains/ChainStep"
import type { StepRequest } from "@scheduling/domain/chains/ChainRun"
import type { Attempt } from "@scheduling/domain/executions/Execution"
import { Conflict, NotFound } from "@scheduling/domain/shared/Errors"
import type { ChainId, ChainRunId, ExecutionId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Result } from "effect"
import { Limits } from "../../plans/index.ts"
import { orNotFound } from "../../core/index.ts"
import { timestampOf } from "../../store/index.ts"
import { renderSentCall } from "../executions/renderSentCall.ts"
import { chainRunStart } from "./chainRun.ts"
import { ChainRunsRepo } from "./ChainRunsRepo.ts"
import { ChainsRepo } from "./ChainsRepo.ts"

/**
 * Reconstructs the requests that a run's steps have sent. Requests are not stored, but rendered
 * again from the same steps and responses. After a chain was changed, its old steps are gone and
 * their requests are unknown.
 */
export class StepRequests extends Context.Service<
  StepRequests,
  {
    /**
     * Reads what a step's request depends on, and returns a function that renders each attempt's
     * request.
     */
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      chainId: ChainId,
      runId: ChainRunId,
      executionId: ExecutionId
    ) => Effect.Effect<
      /** Renders the given attempt's request, or the first attempt's if none is given. */
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
              const chain = yield* requireChain(chains.find(workspaceId, chainId))
              const since = yield* limits.historyFrom(workspaceId)
              const run = yield* requireRun(runs.find(workspaceId, chainId, runId, since))
              const asked = run.steps.find(({ id }) => id === executionId)
              if (asked === undefined || asked.started_at === null) {
                return yield* new NotFound({ resource: "execution" })
              }
              const step = chain.steps.find(({ name }) => name === asked.step)
              const begunAt = chainRunStart(run)
              if (step === undefined || begunAt === null || chain.updated_at > begunAt) {
                return yield* new Conflict({
                  resource: "chain",
                  message:
                    "The chain was changed after this run started, so its requests are not known."
                })
              }
              if (!isCallStep(step)) {
                return yield* new Conflict({
                  resource: "execution",
                  message: "The step makes no call."
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
                  renderSentCall(step, {
                    ...values,
                    run: {
                      id: run.id,
                      attempt: number,
                      scheduled_ms: asked.scheduled_for.getTime()
                    },
                    now_ms: Date.parse(started_at)
                  }),
                  {
                    onSuccess: (sent) => ({ ...sent, headers: maskedMessageHeaders(sent.headers) }),
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

const requireChain = orNotFound("chain")
const requireRun = orNotFound("chain_run")
