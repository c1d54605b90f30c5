import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Precision } from "@scheduling/domain/cron/FiringOptions"
import type { DependencyInput } from "@scheduling/domain/incidents/Dependency"
import type { RunRequest } from "@scheduling/domain/executions/RunRequest"
import {
  type Conflict,
  type NotFound,
  QuotaExceeded,
  type ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  ChangeLog,
  changesOf,
  type RecordedDefinition,
  type DefinitionChange
} from "../accounts/index.ts"
import { orNotFound } from "../core/index.ts"
import type { QueuedRun } from "../engine/index.ts"
import { makeDependencies } from "../incidents/index.ts"
import { Limits } from "../plans/index.ts"
import { StoreClock, transactionOf } from "../store/index.ts"
import { makeRunNow } from "./makeRunNow.ts"
import { type ScheduledRow, makeScheduleWriter } from "./Schedules.ts"
import type { TaskRow } from "./TaskRow.ts"
import type { TasksRepo } from "./TasksRepo.ts"

/**
 * Decides when the tasks of one kind fire, and creates their runs. In addition to the errors that
 * all kinds have, a change can fail with `ChangeError`, and a removal or a manual run with
 * `BusyError`.
 */
export interface TaskLifecycle<
  Row extends TaskRow,
  Listed extends TaskRow,
  Given,
  ChangeError,
  BusyError
> {
  /**
   * Checks the queue that a change names, and locks the workspace if the change counts against the
   * plan or has dependencies. Call this before locking the task's row.
   */
  readonly beforeChange: (
    workspaceId: AuthorizedWorkspaceId,
    given: TaskChanges
  ) => Effect.Effect<void, NotFound | ValidationFailed>
  /**
   * Describes a change for the change log. `before` is undefined for a new task, and `after` is
   * undefined for a removed one.
   */
  readonly changeOf: (before: Row | undefined, after: Row | undefined) => DefinitionChange
  /**
   * Counts the task against the plan, inserts it, and records it in the change log. `rowAt` returns
   * the columns that all kinds have.
   */
  readonly insert: (
    workspaceId: AuthorizedWorkspaceId,
    input: Given,
    rowAt: (createdAt: Date) => Row
  ) => Effect.Effect<Listed, NotFound | Conflict | QuotaExceeded | ValidationFailed>
  /**
   * Returns the columns that depend on the changed columns, such as the due time. Fails if the task
   * can no longer be changed.
   */
  readonly moved: (
    task: Row,
    changes: object
  ) => Effect.Effect<Partial<Row>, Conflict | ValidationFailed>
  readonly update: (
    task: Row,
    changed: Row
  ) => Effect.Effect<Row, NotFound | Conflict | ValidationFailed | ChangeError>
  /** Pauses or resumes the locked task. Changes nothing if the task already has this state. */
  readonly setPaused: (task: Row, paused: boolean) => Effect.Effect<Row, ChangeError>
  /**
   * Returns whether the task already fires at the times that the definition specifies. Other fields
   * are compared elsewhere.
   */
  readonly isDefined: (row: Listed, given: Given) => boolean
  /**
   * Returns whether the task has finished. A finished task keeps its result, so applying a
   * definition with its key creates a new task.
   */
  readonly hasFinished: (row: Listed) => boolean
  /** Removes the locked task. Returns false if the task was already removed. */
  readonly remove: (task: Row) => Effect.Effect<boolean, BusyError>
  readonly run: (
    workspaceId: AuthorizedWorkspaceId,
    id: string,
    request: RunRequest
  ) => Effect.Effect<QueuedRun, NotFound | QuotaExceeded | BusyError>
}

/** The fields of a definition or a change that all kinds of tasks handle in the same way. */
export interface TaskChanges {
  readonly key?: string | null
  readonly queue_id?: string | null
  readonly queue_key?: string | null
  readonly version?: number
  readonly paused?: boolean
  readonly every?: string | null
  readonly precision?: Precision | null
  readonly excluded_calendar?: object | null
  readonly depends_on?: ReadonlyArray<DependencyInput>
}

/** Creates the `TaskLifecycle` of a kind whose tasks repeat on a schedule until they are paused. */
export const makeScheduledLifecycle = Effect.fnUntraced(function* <
  Row extends ScheduledRow & TaskRow,
  Listed extends TaskRow
>({
  definition,
  kind,
  limit,
  listed,
  repo,
  resource
}: {
  readonly kind: "cron" | "chain"
  /** Returns a row's definition. */
  readonly definition: (row: Row) => RecordedDefinition
  readonly resource: "task" | "chain"
  readonly limit: "cron_tasks" | "chains"
  readonly repo: TasksRepo<Row, Listed>
  /** Converts a new row to a listed row, whose columns for the latest run are empty. */
  readonly listed: (row: Row) => Listed
}) {
  const sql = yield* SqlClient.SqlClient
  const transaction = transactionOf(sql)
  const now = Effect.orDie((yield* StoreClock)(sql))
  const changeLog = yield* ChangeLog
  const limits = yield* Limits
  const dependencies = yield* makeDependencies
  const runNow = yield* makeRunNow
  const schedules = yield* makeScheduleWriter(repo, kind === "cron")
  const requireTask = orNotFound(resource)

  const changeOf = changesOf(kind === "cron" ? "cron_task" : "chain", definition)

  const lifecycle: TaskLifecycle<Row, Listed, Pick<TaskChanges, "paused">, QuotaExceeded, never> = {
    changeOf,

    beforeChange: schedules.beforeChange,

    insert: (workspaceId, { paused = false }, rowAt) =>
      transaction(
        Effect.gen(function* () {
          yield* limits.allowOneMore(workspaceId, limit)
          const task: Row = {
            ...rowAt(yield* now),
            status: paused ? "paused" : "active",
            paused_reason: null,
            next_fire_at: null
          }
          const write = (row: Row) =>
            changeLog.recordBy(changeOf(undefined, row), (event) => repo.insert(row, event))
          const row = yield* schedules.insert(task, write)
          const of = { workspace_id: workspaceId, kind, id: row.id }
          yield* dependencies.insert(of, row.depends_on ?? [])
          return listed(row)
        })
      ),

    moved: () => Effect.succeed({}),

    update: schedules.update,

    setPaused: (task, paused) => (paused ? schedules.pause(task) : schedules.resume(task)),

    isDefined: ({ status }, { paused }) => paused === undefined || paused === (status === "paused"),

    hasFinished: () => false,

    remove: Effect.fnUntraced(function* (task) {
      yield* repo.remove(task.workspace_id, task.id)
      yield* schedules.stop(task)
      return true
    }),

    run: (workspaceId, id, request) =>
      runNow(
        { workspace_id: workspaceId, task_id: id, kind, ...request },
        requireTask(repo.findForUpdate(workspaceId, id))
      )
  }

  return lifecycle
})

/** Treats `QuotaExceeded` as a defect, because pausing a task never exceeds a plan's quota. */
export const dieIfOverQuota =
  <Task, E>(
    pause: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Task, E | QuotaExceeded>
  ) =>
  (workspaceId: AuthorizedWorkspaceId, id: string) =>
    pause(workspaceId, id).pipe(
      Effect.catchIf((error) => error instanceof QuotaExceeded, Effect.die)
    ) as Effect.Effect<Task, Exclude<E, QuotaExceeded>>
