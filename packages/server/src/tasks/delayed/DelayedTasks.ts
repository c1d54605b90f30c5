import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  DelayedTask,
  type DelayedTaskDefinition,
  delayedTaskDefaults,
  type DelayedTaskInput,
  type DelayedTaskStatus,
  type DelayedTaskUpdate
} from "@scheduling/domain/delayed/DelayedTask"
import type { Execution } from "@scheduling/domain/executions/Execution"
import type { RunRequest } from "@scheduling/domain/executions/RunRequest"
import { definitionFields } from "@scheduling/domain/definitions/definitionFields"
import type { Conflict, NotFound, QuotaExceeded } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { ChangeLog } from "../../accounts/index.ts"
import type { Ids } from "../../core/index.ts"
import type { RunQueue } from "../../engine/index.ts"
import type { Limits } from "../../plans/index.ts"
import { sortByName, sortByTime } from "../../store/index.ts"
import { callTargets, longCallColumns } from "../callTask.ts"
import { Executions } from "../executions/Executions.ts"
import { type LastRunRow, recentIdRange, toLastRun, withOlderLastRuns } from "../LastRunRepo.ts"
import {
  optionColumnsAfter,
  mergeCallChanges,
  type OptionColumn,
  type OptionColumns
} from "../TaskOptions.ts"
import { type PlainColumns, makeTaskRowMapper, type TaskRow } from "../TaskRow.ts"
import { type Tasks, makeTasks } from "../Tasks.ts"
import { tasksRepo } from "../TasksRepo.ts"
import { dueFields, makeDelayedLifecycle } from "./makeDelayedLifecycle.ts"

/** A stored row. The status `running` is never stored, but computed from `run_at` and the queue. */
type DelayedTaskRow = Omit<PlainColumns<DelayedTask>, "run_at" | "status"> &
  Omit<TaskRow, "status"> &
  Pick<OptionColumns, "call_options"> & {
    readonly status: Exclude<DelayedTaskStatus, "running">
    readonly run_at: Date
  }

type ListedDelayedTask = Omit<DelayedTaskRow, "status"> &
  LastRunRow & { readonly status: DelayedTaskStatus }

/** The operations on delayed tasks. */
export class DelayedTasks extends Context.Service<
  DelayedTasks,
  Omit<
    Tasks<
      DelayedTask,
      DelayedTaskInput,
      DelayedTaskDefinition,
      DelayedTaskUpdate,
      DelayedTaskStatus,
      never,
      Conflict
    >,
    "run"
  > & {
    readonly run: (
      workspaceId: AuthorizedWorkspaceId,
      id: string,
      request: RunRequest
    ) => Effect.Effect<Execution, NotFound | Conflict | QuotaExceeded>
  }
>()("@scheduling/server/tasks/delayed/DelayedTasks") {
  static readonly layer: Layer.Layer<
    DelayedTasks,
    never,
    ChangeLog | Executions | Ids | Limits | RunQueue | SqlClient.SqlClient
  > = Layer.effect(
    DelayedTasks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const executions = yield* Executions
      const repo = yield* tasksRepo<DelayedTaskRow, ListedDelayedTask>({
        kind: "delayed",
        columns,
        long: longCallColumns,
        hasDependencies: false,
        derived: { column: "status", at: (now) => statusAt(sql, now) },
        hasStatus: (workspaceId, status, now) => hasStatus(sql, workspaceId, status, now),
        joinsLastRun: true,
        complete: (rows, now) =>
          withOlderLastRuns(sql, rows, recentIdRange(now), ({ status }) => status === "finished")
      })
      const tasks = yield* makeTasks({
        name: "DelayedTasks",
        sorts: { name: sortByName("t.name"), run_at: sortByTime("t.run_at") },
        resource: "task",
        defaults: delayedTaskDefaults,
        repo,
        lifecycle: yield* makeDelayedLifecycle(repo, definition, (row, status, run) => ({
          ...row,
          ...run,
          status
        })),
        columnsOf: (given: Partial<DelayedTaskInput>, before?: DelayedTaskRow) =>
          optionColumnsAfter(options, Struct.omit(given, dueFields), before),
        merged: (changes: DelayedTaskUpdate, row) => mergeCallChanges(changes, row),
        targets: callTargets,
        // A pending task already has a run in the queue, which must not be shown as its latest run.
        show: (row: ListedDelayedTask) => ({
          ...show(row, row.status === "pending" ? null : toLastRun(row)),
          execution_id: row.last_run_id
        })
      })

      return DelayedTasks.of({
        ...tasks,

        run: (workspaceId, id, request) =>
          Effect.map(tasks.run(workspaceId, id, request), executions.queued)
      })
    })
  )
}

const options = ["call_options", "ending_options"] satisfies ReadonlyArray<OptionColumn>

const { columns, definition, show } = makeTaskRowMapper<DelayedTask, ListedDelayedTask>(
  DelayedTask,
  options,
  definitionFields("delayed")
)

const statusAt = (sql: SqlClient.SqlClient, now: Date) => sql`
  CASE
    WHEN t.status = 'pending' AND t.run_at <= ${now} THEN 'running'
    WHEN t.status = 'finished' AND last_run.finished_at IS NULL AND last_run.id IS NOT NULL
      THEN 'running'
    ELSE t.status
  END`

const hasStatus = (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  status: DelayedTaskStatus,
  now: Date
) => {
  switch (status) {
    case "pending":
      return sql`t.status = 'pending' AND t.run_at > ${now}`
    case "running":
      // The subquery reads the queue once, and not once per finished task.
      return sql`(
        (t.status = 'pending' AND t.run_at <= ${now})
        OR (t.status = 'finished' AND t.id IN (
          SELECT task_id
          FROM runs
          WHERE workspace_id = ${workspaceId}
            AND kind = 'delayed'
            AND scheduled_for <= now()
        ))
      )`
    case "finished":
      // A finished task that is run again manually counts as running until that run has finished.
      return sql`t.status = 'finished'
        AND NOT EXISTS (
          SELECT
          FROM runs
          WHERE runs.task_id = t.id
            AND runs.workspace_id = t.workspace_id
        )`
    case "cancelled":
      return sql`t.status = 'cancelled'`
  }
}
