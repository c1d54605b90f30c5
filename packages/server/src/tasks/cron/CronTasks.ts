import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Principal } from "@scheduling/domain/auth/Principal"
import {
  type CronTask,
  type CronTaskDefinition,
  cronTaskDefaults,
  type CronTaskInput,
  type CronTaskUpdate,
  type SchedulePreview
} from "@scheduling/domain/cron/CronTask"
import type { TaskStatus } from "@scheduling/domain/cron/Firing"
import { type Execution, TaskId } from "@scheduling/domain/executions/Execution"
import {
  type Conflict,
  NotFound,
  type QuotaExceeded,
  type ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { CronTaskId, type ExecutionId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Executions } from "../executions/Executions.ts"
import {
  againIfOvertaken,
  Ids,
  isDefinedAs,
  orNotFound,
  upsertByKey,
  type Upserted
} from "../../core/index.ts"
import { Limits } from "../../plans/index.ts"
import type { Outbox } from "../../events/index.ts"
import { pageRequest, StoreClock, toPage, transactionOf } from "../../store/index.ts"
import { RunQueue } from "../../engine/index.ts"
import { checkTimeout, withCallOptions } from "../callOptions.ts"
import type { TaskQuery } from "../listing.ts"
import { callbackTargets, withEndingOptions } from "../endingOptions.ts"
import { withFiringOptions } from "../firingOptions.ts"
import { showing } from "../CalendarsOfTasksRepo.ts"
import { schedulesOf } from "../Schedules.ts"
import { runningNow } from "../runningNow.ts"
import { targetCheck } from "@scheduling/calls/egress/targetCheck"
import { previewing } from "./previewing.ts"
import type { PreviewQuery } from "./PreviewQuery.ts"
import { type CronTaskRow, CronTasksRepo, toCronTask } from "./CronTasksRepo.ts"

type CronTaskQuery = TaskQuery<TaskStatus>

export class CronTasks extends Context.Service<
  CronTasks,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: CronTaskQuery
    ) => Effect.Effect<Page<CronTask>>
    /** Lists the tasks of every workspace that the principal can read. */
    readonly listAll: (
      principal: Principal["Service"],
      query: CronTaskQuery
    ) => Effect.Effect<Page<CronTask>>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: CronTaskId
    ) => Effect.Effect<CronTask, NotFound>
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: CronTaskInput
    ) => Effect.Effect<CronTask, NotFound | Conflict | QuotaExceeded | ValidationFailed>
    /**
     * Gives the task with the key this definition, or makes it. Changes nothing if it is already
     * defined so.
     */
    readonly upsert: (
      workspaceId: AuthorizedWorkspaceId,
      key: string,
      definition: CronTaskDefinition
    ) => Effect.Effect<Upserted<CronTask>, NotFound | Conflict | QuotaExceeded | ValidationFailed>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      id: CronTaskId,
      changes: CronTaskUpdate
    ) => Effect.Effect<CronTask, NotFound | Conflict | QuotaExceeded | ValidationFailed>
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: CronTaskId
    ) => Effect.Effect<void, NotFound>
    readonly run: (
      workspaceId: AuthorizedWorkspaceId,
      id: CronTaskId
    ) => Effect.Effect<Execution, NotFound | QuotaExceeded>
    readonly pause: (
      workspaceId: AuthorizedWorkspaceId,
      id: CronTaskId
    ) => Effect.Effect<CronTask, NotFound>
    readonly resume: (
      workspaceId: AuthorizedWorkspaceId,
      id: CronTaskId
    ) => Effect.Effect<CronTask, NotFound | QuotaExceeded>
    readonly executions: (
      workspaceId: AuthorizedWorkspaceId,
      id: CronTaskId,
      query: PageQuery
    ) => Effect.Effect<Page<Execution>, NotFound>
    readonly cancel: (
      workspaceId: AuthorizedWorkspaceId,
      id: CronTaskId,
      executionId: ExecutionId
    ) => Effect.Effect<Execution, NotFound | Conflict>
    readonly preview: (
      workspaceId: AuthorizedWorkspaceId,
      query: PreviewQuery
    ) => Effect.Effect<SchedulePreview, ValidationFailed>
  }
>()("@scheduling/server/tasks/cron/CronTasks") {
  static readonly layer: Layer.Layer<
    CronTasks,
    never,
    CronTasksRepo | Executions | Ids | Limits | Outbox | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    CronTasks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const executions = yield* Executions
      const ids = yield* Ids
      const limits = yield* Limits
      const queue = yield* RunQueue
      const runNow = yield* runningNow
      const repo = yield* CronTasksRepo
      const checkTargets = yield* targetCheck

      const schedules = yield* schedulesOf(repo)
      const { shown, shownPage } = showing(sql)

      const get = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: CronTaskId) {
        return yield* shown(toCronTask(yield* found(repo.find(workspaceId, id))))
      })

      const make = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        input: CronTaskInput
      ) {
        yield* checkTargets([{ ...input, path: ["url"] }, ...callbackTargets(input)])
        yield* limits.allowOneMore(workspaceId, "cron_tasks")
        const createdAt = yield* now
        const task = yield* schedules.insert({
          ...withEndingOptions(
            withFiringOptions(withCallOptions({ ...cronTaskDefaults, ...input }))
          ),
          id: CronTaskId.make(yield* ids.next),
          workspace_id: workspaceId,
          status: "active",
          paused_reason: null,
          next_fire_at: null,
          created_at: createdAt,
          updated_at: createdAt
        })
        return yield* shown(toCronTask({ ...task, ...neverRan }))
      })

      const change = Effect.fnUntraced(function* (task: CronTaskRow, changes: CronTaskUpdate) {
        const changed = {
          ...task,
          ...withEndingOptions(withFiringOptions(withCallOptions(changes, task), task), task)
        }
        yield* checkTimeout(changed)
        if (changes.url !== undefined || changes.run_on === null) {
          yield* checkTargets([{ ...changed, path: ["url"] }])
        }
        yield* checkTargets(callbackTargets(changes))
        if (changes.key !== undefined && changes.key !== task.key) {
          yield* repo.giveKey(task, changes.key)
        }
        if (Object.keys(changes).length > 0) yield* schedules.update(task, changed)
        if (changes.run_on !== undefined || changes.worker_wait_seconds !== undefined) {
          yield* queue.move({ workspace_id: task.workspace_id, task_id: task.id }, changed)
        }
        return yield* get(task.workspace_id, task.id)
      })

      return CronTasks.of({
        list: (workspaceId, query) => {
          const page = pageRequest(query)
          return Effect.flatMap(repo.list(workspaceId, { ...query, page }), (rows) =>
            shownPage(toPage(rows, page, toCronTask))
          )
        },

        listAll: (principal, query) => {
          const page = pageRequest(query)
          const listing = { ...query, page }
          const rows =
            principal.kind === "jwt"
              ? repo.listOfMember(principal.user_id, listing)
              : repo.list(principal.workspace_id, listing)
          return Effect.flatMap(rows, (all) => shownPage(toPage(all, page, toCronTask)))
        },

        get,

        create: Effect.fn("CronTasks.create")(make, transaction),

        upsert: Effect.fn("CronTasks.upsert")(
          (workspaceId, key, definition) => {
            const defined = { ...cronTaskDefaults, ...definition, key }
            return upsertByKey(key, {
              find: repo.findByKey(workspaceId, key),
              make: make(workspaceId, { ...definition, key }),
              isDefined: (task) =>
                Effect.succeed(
                  isDefinedAs(task, withEndingOptions(withFiringOptions(withCallOptions(defined))))
                ),
              show: (task) => shown(toCronTask(task)),
              lock: ({ id }) =>
                Effect.andThen(
                  schedules.beforeChange(workspaceId, defined),
                  repo.findForUpdate(workspaceId, id)
                ),
              change: (task) => change(task, defined)
            })
          },
          transaction,
          againIfOvertaken
        ),

        update: Effect.fn("CronTasks.update")(function* (workspaceId, id, changes) {
          yield* schedules.beforeChange(workspaceId, changes)
          return yield* change(yield* found(repo.findForUpdate(workspaceId, id)), changes)
        }, transaction),

        remove: Effect.fn("CronTasks.remove")(function* (workspaceId, id) {
          if (!(yield* repo.remove(workspaceId, id)))
            return yield* new NotFound({ resource: "task" })
          yield* schedules.stop({ workspace_id: workspaceId, id })
        }, transaction),

        run: Effect.fn("CronTasks.run")(function* (workspaceId, id) {
          const task = { workspace_id: workspaceId, task_id: id, kind: "cron" } as const
          return executions.queued(yield* runNow(task, found(repo.findForUpdate(workspaceId, id))))
        }),

        pause: Effect.fn("CronTasks.pause")(function* (workspaceId, id) {
          yield* schedules.pause(yield* found(repo.findForUpdate(workspaceId, id)))
          return yield* get(workspaceId, id)
        }, transaction),

        resume: Effect.fn("CronTasks.resume")(function* (workspaceId, id) {
          yield* schedules.resume(yield* found(repo.findForUpdate(workspaceId, id)))
          return yield* get(workspaceId, id)
        }, transaction),

        executions: Effect.fn("CronTasks.executions")(function* (workspaceId, id, query) {
          const task = yield* get(workspaceId, id)
          return yield* executions.list(workspaceId, { ...query, task_id: TaskId.make(task.id) })
        }),

        cancel: Effect.fn("CronTasks.cancel")(function* (workspaceId, id, executionId) {
          const task = yield* get(workspaceId, id)
          return yield* executions.cancel({
            workspace_id: workspaceId,
            task_id: task.id,
            execution_id: executionId
          })
        }),

        preview: previewing(sql)
      })
    })
  )
}

const neverRan = { last_run_id: null, last_run_status: null, last_run_finished_at: null }

const found = orNotFound("task")
