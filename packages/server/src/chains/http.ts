import { Api } from "@scheduling/domain/Api"
import { Chain } from "@scheduling/domain/chains/Chain"
import { ChainRun } from "@scheduling/domain/chains/ChainRun"
import { Effect } from "effect"
import { Idempotency } from "../platform/Idempotency.ts"
import { implement } from "../platform/implement.ts"
import { Waiting } from "../platform/Waiting.ts"
import { Chains } from "./Chains.ts"

export const ChainsHandlers = implement(
  Api,
  "chains",
  Effect.fnUntraced(function* (handlers) {
    const chains = yield* Chains
    const idempotency = yield* Idempotency
    const waiting = yield* Waiting
    return handlers.handleAll({
      list: ({ params, query }) => chains.list(params.workspace_id, query),

      create: ({ headers, params, payload }) =>
        chains.create(params.workspace_id, payload).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId: params.workspace_id,
            operation: "chains.create",
            payload,
            answer: Chain
          })
        ),

      get: ({ params }) => chains.get(params.workspace_id, params.chain_id),

      update: ({ params, payload }) => chains.update(params.workspace_id, params.chain_id, payload),

      remove: ({ params }) => chains.remove(params.workspace_id, params.chain_id),

      run: ({ headers, params }) =>
        chains.run(params.workspace_id, params.chain_id).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId: params.workspace_id,
            operation: `chains.run ${params.chain_id}`,
            payload: null,
            answer: ChainRun
          })
        ),

      pause: ({ params }) => chains.pause(params.workspace_id, params.chain_id),

      resume: ({ params }) => chains.resume(params.workspace_id, params.chain_id),

      runs: ({ params, query }) => chains.runs(params.workspace_id, params.chain_id, query),

      getRun: ({ params: { chain_id, run_id, workspace_id }, query }) =>
        waiting.untilEnded(chains.getRun(workspace_id, chain_id, run_id), {
          seconds: query.wait_seconds,
          workspace_id,
          id: run_id
        }),

      cancel: ({ params }) =>
        chains.cancel(params.workspace_id, params.chain_id, params.execution_id)
    })
  })
)
