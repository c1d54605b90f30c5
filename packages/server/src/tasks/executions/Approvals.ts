import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { type PendingApproval, NotApprover } from "@scheduling/domain/executions/PendingApproval"
import { Conflict, NotFound } from "@scheduling/domain/shared/Errors"
import type { ExecutionId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog, currentAuthor } from "../../accounts/index.ts"
import { type ApprovalDecision, RunQueue } from "../../engine/index.ts"
import { transactionOf } from "../../store/index.ts"
import { ExecutionsRepo } from "./ExecutionsRepo.ts"

/** A step whose approval was requested. A link in a message contains its id. */
export interface RequestedApproval {
  readonly id: ExecutionId
  readonly workspace_id: AuthorizedWorkspaceId
  readonly chain: string
  readonly step: string | null
  /** The approval. Null if the step no longer waits. */
  readonly approval: Pick<PendingApproval, "approvers" | "message"> | null
}

/** Approves and rejects steps of chains that wait for approval. */
export class Approvals extends Context.Service<
  Approvals,
  {
    /** Approves or rejects a step. If the step has approvers, `decision.by` must be one of them. */
    readonly decide: (
      workspaceId: AuthorizedWorkspaceId,
      id: ExecutionId,
      decision: ApprovalDecision
    ) => Effect.Effect<void, Conflict | NotApprover | NotFound>
    /** Finds a step by the id in a signed link. Undefined if its run has finished. */
    readonly findByLink: (id: string) => Effect.Effect<RequestedApproval | undefined>
  }
>()("@scheduling/server/tasks/executions/Approvals") {
  static readonly layer: Layer.Layer<
    Approvals,
    never,
    AuditLog | ExecutionsRepo | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    Approvals,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const executions = yield* ExecutionsRepo
      const queue = yield* RunQueue

      return Approvals.of({
        decide: Effect.fn("Approvals.decide")(function* (workspaceId, id, decision) {
          const execution = Option.getOrUndefined(yield* executions.find(workspaceId, id))
          if (execution === undefined) return yield* new NotFound({ resource: "execution" })
          const { approval, step, task_id } = execution
          if (approval === null) return yield* notWaiting
          const { approved, by, note } = decision
          if (approval.approvers.length > 0 && !approval.approvers.includes(by.id ?? "")) {
            return yield* new NotApprover()
          }
          if (!(yield* queue.decide(workspaceId, id, decision))) return yield* notWaiting
          const { origin } = yield* currentAuthor
          yield* audit.record({
            action: approved ? "execution.approved" : "execution.rejected",
            workspace_id: workspaceId,
            user_id: null,
            actor: by,
            subject_id: id,
            origin,
            details: { chain_id: task_id, name: step, note }
          })
        }, transactionOf(sql)),

        findByLink: Effect.fn("Approvals.findByLink")(function* (id) {
          const [row] = yield* sql<RequestedApproval>`
            SELECT
              runs.id, runs.workspace_id, coalesce(tasks.name, 'a chain') AS chain, runs.step,
              CASE WHEN runs.pause ->> 'kind' = 'approve' THEN runs.pause END AS approval
            FROM runs
            JOIN tasks ON tasks.id = runs.task_id
            JOIN workspaces ON workspaces.id = runs.workspace_id
            WHERE runs.id = ${id}`.pipe(Effect.orDie)
          return row
        })
      })
    })
  )
}

const notWaiting = Effect.suspend(() =>
  Effect.fail(
    new Conflict({
      resource: "execution",
      field: "status",
      message: "The execution is not waiting for approval, or somebody has already decided."
    })
  )
)
