import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  CronTask,
  type CronTaskDefinition,
  cronTaskDefaults,
  type CronTaskInput,
  type CronTaskUpdate,
  type SchedulePreview
} from "@scheduling/domain/cron/CronTask"
import type { TaskStatus } from "@scheduling/domain/cron/ScheduleOptions"
import { type Execution, TaskId } from "@scheduling/domain/executions/Execution"
import { definitionFields } from "@scheduling/domain/definitions/definitionFields"
import type { NotFound, ValidationFailed } from "@scheduling/domain/shared/Errors"
import type { CountedPage } from "@scheduling/domain/shared/requests/Page"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AuditLog, ChangeLog } from "../../accounts/index.ts"
import { type AppConfig, type Ids, orNotFound } from "../../core/index.ts"
import { RunQueue } from "../../engine/index.ts"
import type { Outbox } from "../../events/index.ts"
import type { Limits } from "../../plans/index.ts"
import { sortByName, sortByTime } from "../../store/index.ts"
import { callTargets, longCallColumns, moveRunsToNewWorker } from "../callTask.ts"
import { Executions, type ExecutionsQuery } from "../executions/Executions.ts"
import { backfillTask } from "../backfillTask.ts"
import { dieIfOverQuota, makeScheduledLifecycle } from "../TaskLifecycle.ts"
import {
  mayHaveOlderRuns,
  type LastRunRow,
  noLastRun,
  recentIdRange,
  toLastRun,
  withOlderLastRuns
} from "../LastRunRepo.ts"
import {
  optionColumnsAfter,
  mergeCallChanges,
  type OptionColumn,
  type OptionColumns
} from "../TaskOptions.ts"
import {
  type FiringColumns,
  type PlainColumns,
  makeTaskRowMapper,
  type TaskRow
} from "../TaskRow.ts"
import { withTimingColumn } from "../timingColumn.ts"
import { type PausableTasks, makeTasks } from "../Tasks.ts"
import { tasksRepo } from "../TasksRepo.ts"
import { previewSchedule } from "./previewSchedule.ts"
import type { PreviewQuery } from "./PreviewQuery.ts"

type CronTaskRow = PlainColumns<CronTask> &
  TaskRow &
  FiringColumns &
  Pick<OptionColumns, "call_options">

type ListedCronTask = CronTaskRow & LastRunRow

/** The operations on cron tasks. */
export class CronTasks extends Context.Service<
  CronTasks,
  PausableTasks<
    CronTask,
    CronTaskInput,
    CronTaskDefinition,
    CronTaskUpdate,
    TaskStatus,
    Execution
  > & {
    readonly executions: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      query: Omit<ExecutionsQuery, "kind" | "task_id">
    ) => Effect.Effect<CountedPage<Execution>, NotFound>
    readonly preview: (
      workspaceId: AuthorizedWorkspaceId,
      query: PreviewQuery
    ) => Effect.Effect<SchedulePreview, ValidationFailed>
  }
>()("@scheduling/server/tasks/cron/CronTasks") {
  static readonly layer: Layer.Layer<
    CronTasks,
    never,
    | AppConfig
    | AuditLog
    | ChangeLog
    | Executions
    | Ids
    | Limits
    | Outbox
    | RunQueue
    | SqlClient.SqlClient
  > = Layer.effect(
    CronTasks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const executions = yield* Executions
      const queue = yield* RunQueue
      const repo = yield* tasksRepo<CronTaskRow, ListedCronTask>({
        kind: "cron",
        columns,
        long: longCallColumns,
        hasDependencies: true,
        joinsLastRun: true,
        complete: (rows, now) =>
          withOlderLastRuns(sql, rows, recentIdRange(now), ({ created_at }) =>
            mayHaveOlderRuns(created_at, now)
          )
      })
      const lifecycle = yield* makeScheduledLifecycle({
        kind: "cron",
        definition,
        resource: "task",
        limit: "cron_tasks",
        repo,
        listed: (row) => ({ ...row, ...noLastRun })
      })
      const tasks = yield* makeTasks({
        name: "CronTasks",
        sorts: { name: sortByName("t.name"), next_run_at: sortByTime("t.next_fire_at") },
        resource: "task",
        defaults: cronTaskDefaults,
        repo,
        lifecycle,
        columnsOf: ({ depends_on: _, ...given }: Partial<CronTaskInput>, before?: CronTaskRow) =>
          optionColumnsAfter(options, withTimingColumn(given, before), before),
        merged: (changes: CronTaskUpdate, row) => mergeCallChanges(changes, row),
        targets: callTargets,
        show: (row: ListedCronTask) => show(row, toLastRun(row)),
        changed: moveRunsToNewWorker(queue.move)
      })

      return CronTasks.of({
        ...tasks,

        run: (workspaceId, id, request) =>
          Effect.map(tasks.run(workspaceId, id, request), executions.queued),

        pause: dieIfOverQuota(tasks.setPaused(true)),

        resume: tasks.setPaused(false),

        backfill: yield* backfillTask("cron", (workspaceId, id) =>
          orNotFound("task")(repo.findForUpdate(workspaceId, id))
        ),

        executions: Effect.fn("CronTasks.executions")(function* (workspaceId, id, query) {
          const task = yield* tasks.get(workspaceId, id)
          return yield* executions.list(workspaceId, { ...query, task_id: [TaskId.make(task.id)] })
        }),

        preview: previewSchedule(sql)
      })
    })
  )
}

const options = [
  "call_options",
  "firing_options",
  "ending_options"
] satisfies ReadonlyArray<OptionColumn>

const { columns, definition, show } = makeTaskRowMapper<CronTask, CronTaskRow>(
  CronTask,
  options,
  definitionFields("cron")
)
