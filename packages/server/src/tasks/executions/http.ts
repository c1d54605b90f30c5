import { Api } from "@scheduling/domain/Api"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Principal } from "@scheduling/domain/auth/Principal"
import type { DecisionRequest } from "@scheduling/domain/executions/PendingApproval"
import { Execution } from "@scheduling/domain/executions/Execution"
import type { ExecutionId } from "@scheduling/domain/shared/Ids"
import * as Rerun from "@scheduling/domain/executions/Rerun"
import { Effect } from "effect"
import { Auth, currentAuthor, makeAccessCheck } from "../../accounts/index.ts"
import {
  checkTimeRange,
  Idempotency,
  implement,
  inWorkspace,
  WaitingRequests
} from "../../http/index.ts"
import { Approvals } from "./Approvals.ts"
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
    const waiting = yield* WaitingRequests
    const approvals = yield* Approvals

    const decide = Effect.fnUntraced(function* (
      workspaceId: AuthorizedWorkspaceId,
      id: ExecutionId,
      approved: boolean,
      { note = null }: DecisionRequest
    ) {
      const { actor: by } = yield* currentAuthor
      yield* approvals.decide(workspaceId, id, { approved, by, note })
      return yield* executions.find(workspaceId, id)
    })

    return handlers.handleAll({
      list: inWorkspace((workspaceId, { query }) =>
        Effect.andThen(checkTimeRange(query), executions.list(workspaceId, query))
      ),

      listScheduled: inWorkspace((workspaceId, { query }) =>
        executions.scheduled(workspaceId, query)
      ),

      getStats: inWorkspace((workspaceId, { query }) => executions.stats(workspaceId, query)),

      get: inWorkspace((workspaceId, { endpoint, params: { execution_id }, query }) =>
        Effect.gen(function* () {
          const principal = yield* Principal
          const execution = yield* waiting.untilFinished(
            executions.get(workspaceId, execution_id),
            {
              seconds: query.wait_seconds,
              workspace_id: workspaceId,
              id: execution_id,
              decideAgain: makeAccessCheck(auth, endpoint)
            }
          )
          return mayReadTasks(principal) ? yield* requests.addTo(workspaceId, execution) : execution
        })
      ),

      cancel: inWorkspace((workspaceId, { params }) =>
        executions.cancel(workspaceId, params.execution_id)
      ),

      approve: inWorkspace((workspaceId, { params, payload }) =>
        decide(workspaceId, params.execution_id, true, payload)
      ),

      reject: inWorkspace((workspaceId, { params, payload }) =>
        decide(workspaceId, params.execution_id, false, payload)
      ),

      rerunMany: inWorkspace((workspaceId, { headers, payload }) =>
        Effect.andThen(checkTimeRange(payload), reruns.many(workspaceId, payload)).pipe(
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
