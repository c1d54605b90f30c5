import { Api } from "@scheduling/domain/Api"
import { Principal } from "@scheduling/domain/auth/Principal"
import { Execution } from "@scheduling/domain/executions/Execution"
import * as Rerun from "@scheduling/domain/executions/Rerun"
import { Effect } from "effect"
import { Auth, makeAccessCheck } from "../../accounts/index.ts"
import { checkRange, Idempotency, implement, inWorkspace, Waiting } from "../../http/index.ts"
import { AttemptRequests } from "./AttemptRequests.ts"
import { Executions } from "./Executions.ts"
import { Reruns } from "./Reruns.ts"

const mayReadTasks = (principal: Principal["Service"]): boolean =>
  principal.kind === "jwt" || principal.scopes.includes("tasks:read")

export const ExecutionsHandlers = implement(
  Api,
  "executions",
  Effect.fnUntraced(function* (handlers) {
    const auth = yield* Auth
    const executions = yield* Executions
    const idempotency = yield* Idempotency
    const requests = yield* AttemptRequests
    const reruns = yield* Reruns
    const waiting = yield* Waiting
    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) =>
        Effect.andThen(checkRange(query), executions.list(workspaceId, query))
      ),

      listScheduled: inWorkspace((workspaceId, { query }) =>
        executions.scheduled(workspaceId, query)
      ),

      getStats: inWorkspace((workspaceId, { query }) => executions.stats(workspaceId, query)),

      get: inWorkspace((workspaceId, { endpoint, params: { execution_id }, query }) =>
        Effect.gen(function* () {
          const principal = yield* Principal
          const execution = yield* waiting.untilEnded(executions.get(workspaceId, execution_id), {
            seconds: query.wait_seconds,
            workspace_id: workspaceId,
            id: execution_id,
            decideAgain: makeAccessCheck(auth, endpoint)
          })
          return mayReadTasks(principal) ? yield* requests.addTo(workspaceId, execution) : execution
        })
      ),

      cancel: inWorkspace((workspaceId, { params }) =>
        executions.cancel(workspaceId, params.execution_id)
      ),

      rerunMany: inWorkspace((workspaceId, { headers, payload }) =>
        Effect.andThen(checkRange(payload), reruns.many(workspaceId, payload)).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: "executions.rerunMany",
            payload,
            answer: Rerun.Reruns
          })
        )
      ),

      rerun: inWorkspace((workspaceId, { headers, params: { execution_id } }) =>
        reruns.one(workspaceId, execution_id).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: `executions.rerun ${execution_id}`,
            payload: null,
            answer: Execution
          })
        )
      )
    })
  })
)
