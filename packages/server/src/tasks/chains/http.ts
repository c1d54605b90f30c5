import { Api } from "@scheduling/domain/Api"
import { Chain, ChainBatchResult } from "@scheduling/domain/chains/Chain"
import { ChainRun } from "@scheduling/domain/chains/ChainRun"
import { Effect } from "effect"
import { Auth, makeAccessCheck } from "../../accounts/index.ts"
import { Calendars } from "../calendars/Calendars.ts"
import { implement, inWorkspace, WaitingRequests } from "../../http/index.ts"
import { scheduledHandlers } from "../scheduledHandlers.ts"
import { taskHandlers } from "../taskHandlers.ts"
import { triggerHandlers } from "../triggers/triggerHandlers.ts"
import { uptimeHandlers } from "../uptime/uptimeHandlers.ts"
import { Chains } from "./Chains.ts"
import { StepRequests } from "./StepRequests.ts"

const idOf = ({ chain_id }: { readonly chain_id: string }) => chain_id

export const ChainsHandlers = implement(
  Api,
  "chains",
  Effect.fnUntraced(function* (handlers) {
    const auth = yield* Auth
    const chains = yield* Chains
    const calendars = yield* Calendars
    const waiting = yield* WaitingRequests
    const stepRequests = yield* StepRequests
    return handlers.handleAll({
      ...(yield* taskHandlers({
        name: "chains",
        tasks: chains,
        answers: { task: Chain, batch: ChainBatchResult, run: ChainRun },
        prepare: calendars.readBefore
      })),

      ...(yield* scheduledHandlers("chains", chains, idOf)),

      ...(yield* triggerHandlers("chain", idOf)),

      ...(yield* uptimeHandlers("chain", idOf)),

      listRuns: inWorkspace((workspaceId, { params, query }) =>
        chains.runs(workspaceId, params.chain_id, query)
      ),

      getRun: inWorkspace((workspaceId, { endpoint, params: { chain_id, run_id }, query }) =>
        waiting.untilFinished(chains.getRun(workspaceId, chain_id, run_id), {
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
