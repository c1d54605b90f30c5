import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Execution } from "@scheduling/domain/executions/Execution"
import {
  maxExaminedPerRerun,
  type RerunFilter,
  type Reruns as Answer
} from "@scheduling/domain/executions/Rerun"
import { Conflict, NotFound, type QuotaExceeded } from "@scheduling/domain/shared/Errors"
import type { ExecutionId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RunQueue } from "../../engine/index.ts"
import { transactionOf } from "../../store/index.ts"
import { dateOf, Executions } from "./Executions.ts"
import { type FinishedExecution, RerunsRepo } from "./RerunsRepo.ts"

/**
 * Runs finished executions again. A task runs with its current definition. Earlier definitions are
 * kept only for chains' steps, and only until their runs end.
 */
export class Reruns extends Context.Service<
  Reruns,
  {
    readonly one: (
      workspaceId: AuthorizedWorkspaceId,
      id: ExecutionId
    ) => Effect.Effect<Execution, NotFound | Conflict | QuotaExceeded>
    readonly many: (
      workspaceId: AuthorizedWorkspaceId,
      filter: RerunFilter
    ) => Effect.Effect<Answer, NotFound | QuotaExceeded>
  }
>()("@scheduling/server/tasks/executions/Reruns") {
  static readonly layer: Layer.Layer<
    Reruns,
    never,
    Executions | RerunsRepo | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    Reruns,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const executions = yield* Executions
      const queue = yield* RunQueue
      const repo = yield* RerunsRepo

      return Reruns.of({
        one: Effect.fn("Reruns.one")(function* (workspaceId, id) {
          const { kind } = yield* executions.get(workspaceId, id)
          const [ended] = yield* repo.list(workspaceId, [id])
          if (ended === undefined || ended.is_unfinished) return yield* notEnded
          const [run] = yield* queue.rerun(workspaceId, [ended])
          if (run === undefined) {
            return yield* new NotFound({ resource: kind === "chain" ? "chain" : "task" })
          }
          return executions.queued(run)
        }, transaction),

        many: Effect.fn("Reruns.many")(function* (workspaceId, filter) {
          const page = yield* executions.list(workspaceId, {
            ...filter,
            limit: maxExaminedPerRerun
          })
          const ids = page.data.map(({ id }) => id)
          const now = yield* DateTime.nowAsDate
          const { from, to } = filter
          const same = { ...filter, now, from: dateOf(from), to: dateOf(to) }
          const ended = ids.length === 0 ? [] : yield* repo.list(workspaceId, ids, same)
          const runs = yield* queue.rerun(workspaceId, ended.filter(runsAgain))
          return { count: runs.length, cursor: page.next_cursor }
        }, transaction)
      })
    })
  )
}

/**
 * Returns whether a finished execution runs again. The filter may match several steps of a chain
 * run, which must run again only once.
 */
const runsAgain = ({ is_unfinished, follows_match, was_skipped }: FinishedExecution) =>
  !is_unfinished && !follows_match && !was_skipped

const notEnded = Effect.suspend(() =>
  Effect.fail(
    new Conflict({
      resource: "execution",
      field: "status",
      message: "The execution, or the run of its chain, has not finished. Wait until it finishes."
    })
  )
)
