import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Precision } from "@scheduling/domain/cron/FiringOptions"
import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import type { RunRequest } from "@scheduling/domain/executions/RunRequest"
import {
  type Conflict,
  NotFound,
  type QuotaExceeded,
  type ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { orNotFound } from "../core/index.ts"
import type { QueuedRun } from "../engine/index.ts"
import { Limits } from "../plans/index.ts"
import { StoreClock, transactionOf } from "../store/index.ts"
import { runningNow } from "./runningNow.ts"
import { type ScheduledRow, schedulesOf } from "./Schedules.ts"
import type { TaskRow } from "./TaskRow.ts"
import type { TasksRepo } from "./TasksRepo.ts"

/**
 * When the tasks of a kind fire, and how they become runs. `ChangeError` is how a change can fail, and
 * `BusyError` how a removal or a run can, in addition to what all kinds have in common.
 */
export interface Firing<
  Row extends TaskRow,
  Listed extends TaskRow,
  Given,
  ChangeError,
  BusyError
> {
  /** Called before the row of a task is locked. */
  readonly hold: (
    workspaceId: AuthorizedWorkspaceId,
    given: TaskChanges
  ) => Effect.Effect<void, NotFound | ValidationFailed>
  /** Allows one more task of the plan and writes it. `rowAt` has the columns that all kinds have. */
  readonly insert: (
    workspaceId: AuthorizedWorkspaceId,
    input: Given,
    rowAt: (createdAt: Date) => Row
  ) => Effect.Effect<Listed, NotFound | Conflict | QuotaExceeded | ValidationFailed>
  /** The columns that a change moves. Fails if the task can no longer be changed. */
  readonly moved: (
    task: Row,
    changes: object
  ) => Effect.Effect<Partial<Row>, Conflict | ValidationFailed>
  readonly update: (
    task: Row,
    changed: Row
  ) => Effect.Effect<void, NotFound | Conflict | ValidationFailed | ChangeError>
  /** Whether the task fires as the definition says. Its columns are compared elsewhere. */
  readonly isDefined: (row: Listed, given: Given) => boolean
  /** A task that is over keeps its result: another definition of its key creates a new task. */
  readonly isOver: (row: Listed) => boolean
  readonly remove: (
    workspaceId: AuthorizedWorkspaceId,
    id: string
  ) => Effect.Effect<void, NotFound | BusyError>
  readonly run: (
    workspaceId: AuthorizedWorkspaceId,
    id: string,
    request: RunRequest
  ) => Effect.Effect<QueuedRun, NotFound | QuotaExceeded | BusyError>
}

/** What a definition or a change may give, of what is decided for all kinds. */
export interface TaskChanges {
  readonly key?: string | null
  readonly queue_id?: string | null
  readonly precision?: Precision | null
  readonly excluded_calendar?: object | null
}

/** The firing of a kind whose tasks repeat on a schedule until they are paused. */
export const scheduledFiring = Effect.fnUntraced(function* <
  Row extends ScheduledRow & TaskRow,
  Listed extends TaskRow
>({
  kind,
  limit,
  listed,
  repo,
  resource
}: {
  readonly kind: ExecutionKind
  readonly resource: "task" | "chain"
  readonly limit: "cron_tasks" | "chains"
  readonly repo: TasksRepo<Row, Listed>
  /** A task that has no run yet. */
  readonly listed: (row: Row) => Listed
}) {
  const sql = yield* SqlClient.SqlClient
  const transaction = transactionOf(sql)
  const now = Effect.orDie((yield* StoreClock)(sql))
  const limits = yield* Limits
  const runNow = yield* runningNow
  const schedules = yield* schedulesOf(repo)
  const found = orNotFound(resource)

  const firing: Firing<Row, Listed, object, QuotaExceeded, never> = {
    hold: schedules.beforeChange,

    insert: (workspaceId, _, rowAt) =>
      transaction(
        Effect.gen(function* () {
          yield* limits.allowOneMore(workspaceId, limit)
          const row = yield* schedules.insert({
            ...rowAt(yield* now),
            status: "active",
            paused_reason: null,
            next_fire_at: null
          })
          return listed(row)
        })
      ),

    moved: () => Effect.succeed({}),

    update: (task, changed) => Effect.asVoid(schedules.update(task, changed)),

    isDefined: () => true,

    isOver: () => false,

    remove: Effect.fnUntraced(function* (workspaceId, id) {
      if (!(yield* repo.remove(workspaceId, id))) return yield* new NotFound({ resource })
      yield* schedules.stop({ workspace_id: workspaceId, id })
    }),

    run: (workspaceId, id, { input }) =>
      runNow(
        { workspace_id: workspaceId, task_id: id, kind, input },
        found(repo.findForUpdate(workspaceId, id))
      )
  }

  /** The pause or the resume of the task with an id, shown by `get`. */
  const locked =
    <ChangeError>(change: (task: Row) => Effect.Effect<Row, ChangeError>) =>
    <Task>(
      get: (workspaceId: AuthorizedWorkspaceId, id: string) => Effect.Effect<Task, NotFound>
    ) =>
    (workspaceId: AuthorizedWorkspaceId, id: string) =>
      found(repo.findForUpdate(workspaceId, id)).pipe(
        Effect.flatMap(change),
        Effect.andThen(get(workspaceId, id)),
        transaction
      )

  return {
    firing,
    pause: locked((task) => schedules.pause(task)),
    resume: locked(schedules.resume)
  }
})
