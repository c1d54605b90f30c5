import { Api } from "@scheduling/domain/Api"
import { Chain, ChainBatchResult } from "@scheduling/domain/chains/Chain"
import { ChainRun } from "@scheduling/domain/chains/ChainRun"
import { Effect } from "effect"
import { Auth, laterDecision } from "../../accounts/index.ts"
import { Calendars } from "../calendars/Calendars.ts"
import { createdIfNew, Idempotency, implement, inWorkspace, Waiting } from "../../http/index.ts"
import { Batches } from "../batches/Batches.ts"
import { Chains } from "./Chains.ts"
import { StepRequests } from "./StepRequests.ts"

export const ChainsHandlers = implement(
  Api,
  "chains",
  Effect.fnUntraced(function* (handlers) {
    const auth = yield* Auth
    const chains = yield* Chains
    const idempotency = yield* Idempotency
    const calendars = yield* Calendars
    const batches = yield* Batches
    const waiting = yield* Waiting
    const stepRequests = yield* StepRequests
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) => chains.list(workspaceId, query)),

      create: inWorkspace((workspaceId, { headers, payload }) =>
        chains.create(workspaceId, payload).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: "chains.create",
            payload,
            answer: Chain
          }),
          calendars.readBefore(workspaceId, payload)
        )
      ),

      createMany: inWorkspace((workspaceId, { headers, payload }) =>
        batches.create(
          {
            key: headers["idempotency-key"],
            workspaceId,
            operation: "chains.createMany",
            items: payload.items,
            answer: ChainBatchResult
          },
          (input) => chains.create(workspaceId, input),
          (input) => calendars.readBefore(workspaceId, input)(Effect.void)
        )
      ),

      get: inWorkspace((workspaceId, { params }) => chains.get(workspaceId, params.chain_id)),

      upsert: inWorkspace((workspaceId, { params, payload }) =>
        chains
          .upsert(workspaceId, params.key, payload)
          .pipe(calendars.readBefore(workspaceId, payload, "a change"), createdIfNew)
      ),

      update: inWorkspace((workspaceId, { params, payload }) =>
        chains
          .update(workspaceId, params.chain_id, payload)
          .pipe(calendars.readBefore(workspaceId, payload, "a change"))
      ),

      remove: inWorkspace((workspaceId, { params }) => chains.remove(workspaceId, params.chain_id)),

      run: inWorkspace((workspaceId, { headers, params }) =>
        chains.run(workspaceId, params.chain_id).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: `chains.run ${params.chain_id}`,
            payload: null,
            answer: ChainRun
          })
        )
      ),

      pause: inWorkspace((workspaceId, { params }) => chains.pause(workspaceId, params.chain_id)),

      resume: inWorkspace((workspaceId, { params }) => chains.resume(workspaceId, params.chain_id)),

      runs: inWorkspace((workspaceId, { params, query }) =>
        chains.runs(workspaceId, params.chain_id, query)
      ),

      getRun: inWorkspace((workspaceId, { endpoint, params: { chain_id, run_id }, query }) =>
        waiting.untilEnded(chains.getRun(workspaceId, chain_id, run_id), {
          seconds: query.wait_seconds,
          workspace_id: workspaceId,
          id: run_id,
          decideAgain: laterDecision(auth, endpoint)
        })
      ),

      stepRequest: inWorkspace((workspaceId, { params: { chain_id, execution_id, run_id } }) =>
        stepRequests.get(workspaceId, chain_id, run_id, execution_id)
      ),

      cancel: inWorkspace((workspaceId, { params }) =>
        chains.cancel(workspaceId, params.chain_id, params.execution_id)
      )
    })
  })
)
