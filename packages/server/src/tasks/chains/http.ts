import { Api } from "@scheduling/domain/Api"
import { Chain, ChainBatchResult } from "@scheduling/domain/chains/Chain"
import { ChainRun } from "@scheduling/domain/chains/ChainRun"
import { Effect } from "effect"
import { Auth, makeAccessCheck } from "../../accounts/index.ts"
import { Calendars } from "../calendars/Calendars.ts"
import { implement, inWorkspace, Waiting } from "../../http/index.ts"
import { taskHandlers } from "../taskHandlers.ts"
import { Chains } from "./Chains.ts"
import { StepRequests } from "./StepRequests.ts"

export const ChainsHandlers = implement(
  Api,
  "chains",
  Effect.fnUntraced(function* (handlers) {
    const auth = yield* Auth
    const chains = yield* Chains
    const calendars = yield* Calendars
    const waiting = yield* Waiting
    const stepRequests = yield* StepRequests
    return handlers.handleAll({
      ...(yield* taskHandlers({
        name: "chains",
        tasks: chains,
        answers: { task: Chain, batch: ChainBatchResult, run: ChainRun },
        prepare: calendars.readBefore
      })),

      pause: inWorkspace((workspaceId, { params }) => chains.pause(workspaceId, params.chain_id)),

      resume: inWorkspace((workspaceId, { params }) => chains.resume(workspaceId, params.chain_id)),

      listRuns: inWorkspace((workspaceId, { params, query }) =>
        chains.runs(workspaceId, params.chain_id, query)
      ),

      getRun: inWorkspace((workspaceId, { endpoint, params: { chain_id, run_id }, query }) =>
        waiting.untilEnded(chains.getRun(workspaceId, chain_id, run_id), {
          seconds: query.wait_seconds,
          workspace_id: workspaceId,
          id: run_id,
          decideAgain: makeAccessCheck(auth, endpoint)
        })
      ),

      stepRequest: inWorkspace((workspaceId, { params: { chain_id, execution_id, run_id } }) =>
        Effect.flatMap(
          stepRequests.find(workspaceId, chain_id, run_id, execution_id),
          (requestOf) => Effect.fromResult(requestOf())
        )
      )
    })
  })
)
