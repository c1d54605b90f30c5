import type { Caller } from "@scheduling/domain/auth/Caller"
import {
  type CronTask,
  cronTaskDefaults,
  type CronTaskInput,
  type CronTaskUpdate,
  defaultPreviewCount,
  maxCronTasks,
  type SchedulePreview
} from "@scheduling/domain/cron/CronTask"
import type { TaskStatus } from "@scheduling/domain/cron/Firing"
import { type DstOverlap, nextFire, preview, Schedule } from "@scheduling/domain/cron/Schedule"
import { TimeZone } from "@scheduling/domain/cron/TimeZone"
import { type Execution, TaskId } from "@scheduling/domain/executions/Execution"
import {
  type Conflict,
  NotFound,
  QuotaExceeded,
  type ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { CronTaskId, type ExecutionId, type WorkspaceId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/Page"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Executions } from "../executions/Executions.ts"
import { orNotFound } from "../platform/orNotFound.ts"
import { Ids } from "../platform/Ids.ts"
import { pageRequest, toPage } from "../platform/Pages.ts"
import { StoreClock } from "../platform/StoreClock.ts"
import { transactionOf } from "../platform/transaction.ts"
import { RunQueue } from "../runner/RunQueue.ts"
import { targetCheck } from "../tasks/targets.ts"
import { type CronTaskRow, CronTasksRepo, toCronTask } from "./CronTasksRepo.ts"

interface CronTaskQuery extends PageQuery {
  readonly status?: TaskStatus
  readonly name?: string
}

/** A next fire is computed by the clock of the store, here and in the runner, once the row is locked. */
export class CronTasks extends Context.Service<
  CronTasks,
  {
    readonly list: (workspaceId: WorkspaceId, query: CronTaskQuery) => Effect.Effect<Page<CronTask>>
    /** Of every workspace that the caller can read. */
    readonly listAll: (
      caller: Caller["Service"],
      query: CronTaskQuery
    ) => Effect.Effect<Page<CronTask>>
    readonly get: (workspaceId: WorkspaceId, id: CronTaskId) => Effect.Effect<CronTask, NotFound>
    readonly create: (
      workspaceId: WorkspaceId,
      input: CronTaskInput
    ) => Effect.Effect<CronTask, NotFound | QuotaExceeded | ValidationFailed>
    readonly update: (
      workspaceId: WorkspaceId,
      id: CronTaskId,
      changes: CronTaskUpdate
    ) => Effect.Effect<CronTask, NotFound | ValidationFailed>
    readonly remove: (workspaceId: WorkspaceId, id: CronTaskId) => Effect.Effect<void, NotFound>
    readonly run: (
      workspaceId: WorkspaceId,
      id: CronTaskId
    ) => Effect.Effect<Execution, NotFound | QuotaExceeded>
    readonly pause: (workspaceId: WorkspaceId, id: CronTaskId) => Effect.Effect<CronTask, NotFound>
    readonly resume: (workspaceId: WorkspaceId, id: CronTaskId) => Effect.Effect<CronTask, NotFound>
    readonly executions: (
      workspaceId: WorkspaceId,
      id: CronTaskId,
      query: PageQuery
    ) => Effect.Effect<Page<Execution>, NotFound>
    readonly cancel: (
      workspaceId: WorkspaceId,
      id: CronTaskId,
      executionId: ExecutionId
    ) => Effect.Effect<Execution, NotFound | Conflict>
    readonly preview: (query: {
      readonly schedule: Schedule
      readonly timezone?: TimeZone
      readonly dst_overlap?: DstOverlap
      readonly count?: number
    }) => Effect.Effect<SchedulePreview>
  }
>()("@scheduling/server/cron/CronTasks") {
  static readonly layer: Layer.Layer<
    CronTasks,
    never,
    CronTasksRepo | Executions | Ids | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    CronTasks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const executions = yield* Executions
      const ids = yield* Ids
      const queue = yield* RunQueue
      const repo = yield* CronTasksRepo
      const checkTargets = yield* targetCheck

      const get = Effect.fnUntraced(function* (workspaceId: WorkspaceId, id: CronTaskId) {
        return toCronTask(yield* found(repo.find(workspaceId, id)))
      })

      /** Inside the transaction that locked the row. */
      const save = Effect.fnUntraced(function* (task: CronTaskRow) {
        yield* repo.update(task)
        if (task.next_fire_at !== null) yield* queue.wake(task.next_fire_at)
      })

      return CronTasks.of({
        list: (workspaceId, query) => {
          const page = pageRequest(query)
          return Effect.map(repo.list(workspaceId, { ...query, page }), (rows) =>
            toPage(rows, page, toCronTask)
          )
        },

        listAll: (caller, query) => {
          const page = pageRequest(query)
          const listing = { ...query, page }
          const rows =
            caller.kind === "jwt"
              ? repo.listOfMember(caller.user_id, listing)
              : repo.list(caller.workspace_id, listing)
          return Effect.map(rows, (all) => toPage(all, page, toCronTask))
        },

        get,

        create: Effect.fn("CronTasks.create")(function* (workspaceId, input) {
          yield* checkTargets([{ path: ["url"], url: input.url }])
          if ((yield* repo.count(workspaceId)) >= maxCronTasks) {
            return yield* new QuotaExceeded({ quota: "cron_tasks", limit: maxCronTasks })
          }
          const createdAt = yield* now
          const defined = { ...cronTaskDefaults, ...input }
          const next_fire_at = nextFireOf(defined, createdAt)
          const row: CronTaskRow = {
            ...defined,
            id: CronTaskId.make(yield* ids.next),
            workspace_id: workspaceId,
            status: "active",
            next_fire_at,
            created_at: createdAt,
            updated_at: createdAt
          }
          yield* repo.insert(row)
          yield* queue.wake(next_fire_at)
          return toCronTask({ ...row, ...neverRan })
        }, transaction),

        update: Effect.fn("CronTasks.update")(function* (workspaceId, id, changes) {
          const task = yield* found(repo.findForUpdate(workspaceId, id))
          if (changes.url !== undefined) yield* checkTargets([{ path: ["url"], url: changes.url }])
          if (Object.keys(changes).length > 0) {
            const changed: CronTaskRow = { ...task, ...changes, updated_at: yield* now }
            const firesOtherwise = firing.some((field) => changed[field] !== task[field])
            if (firesOtherwise && task.status === "active") {
              const after = yield* queue.withdrawSlots({ workspace_id: workspaceId, task_id: id })
              yield* save({ ...changed, next_fire_at: nextFireOf(changed, after) })
            } else {
              yield* repo.update(changed)
            }
          }
          return yield* get(workspaceId, id)
        }, transaction),

        remove: Effect.fn("CronTasks.remove")(function* (workspaceId, id) {
          if (!(yield* repo.remove(workspaceId, id))) return yield* noSuchTask
          yield* queue.stop({ workspace_id: workspaceId, task_id: id })
        }, transaction),

        run: Effect.fn("CronTasks.run")(function* (workspaceId, id) {
          const task = yield* found(repo.findForUpdate(workspaceId, id))
          return executions.queued(
            yield* queue.enqueue({ workspace_id: workspaceId, task_id: task.id, kind: "cron" })
          )
        }, transaction),

        pause: Effect.fn("CronTasks.pause")(function* (workspaceId, id) {
          const task = yield* found(repo.findForUpdate(workspaceId, id))
          if (task.status === "active") {
            yield* save({ ...task, status: "paused", next_fire_at: null, updated_at: yield* now })
            yield* queue.stop({ workspace_id: workspaceId, task_id: id })
          }
          return yield* get(workspaceId, id)
        }, transaction),

        resume: Effect.fn("CronTasks.resume")(function* (workspaceId, id) {
          const task = yield* found(repo.findForUpdate(workspaceId, id))
          if (task.status === "paused") {
            const after = yield* queue.withdrawSlots({ workspace_id: workspaceId, task_id: id })
            const next_fire_at = nextFireOf(task, after)
            yield* save({ ...task, status: "active", next_fire_at, updated_at: yield* now })
          }
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

        preview: Effect.fn("CronTasks.preview")(function* (query) {
          const {
            count = defaultPreviewCount,
            dst_overlap,
            schedule,
            timezone
          } = {
            ...cronTaskDefaults,
            ...query
          }
          return {
            data: preview(schedule, timezone, yield* DateTime.nowAsDate, count, { dst_overlap })
          }
        })
      })
    })
  )
}

/** The fields that decide when a task fires. */
const firing = ["schedule", "timezone", "dst_overlap"] as const

const nextFireOf = (task: Pick<CronTaskRow, (typeof firing)[number]>, after: Date): Date =>
  new Date(
    nextFire(Schedule.make(task.schedule), TimeZone.make(task.timezone), after, {
      dst_overlap: task.dst_overlap
    })
  )

const neverRan = { last_run_id: null, last_run_status: null, last_run_finished_at: null }

const noSuchTask = Effect.suspend(() => Effect.fail(new NotFound({ resource: "task" })))

const found = orNotFound("task")
