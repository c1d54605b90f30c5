import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type MaintenanceWindow,
  type MaintenanceWindowDefinition,
  maxMaintenanceWindows
} from "@scheduling/domain/maintenance/MaintenanceWindow"
import { InsufficientScope } from "@scheduling/domain/auth/AuthErrors"
import { Principal } from "@scheduling/domain/auth/Principal"
import type { TaskId } from "@scheduling/domain/executions/Execution"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { MaintenanceWindowId, type MonitorId } from "@scheduling/domain/shared/Ids"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { changesOf, makeNamedDefinitions, type RecordedDefinition } from "../../accounts/index.ts"
import { timestampOf, timestampOrNull, transactionOf } from "../../store/index.ts"
import { findRecordIds, unknownIdIssues } from "../findRecordIds.ts"
import { keyFinder, SubjectsRepo } from "../SubjectsRepo.ts"
import { type MaintenanceRow, MaintenanceRepo } from "./MaintenanceRepo.ts"
import { isMaintenanceInProgress, nextMaintenanceStart } from "./occurrences.ts"

/** Creates, changes, lists and deletes maintenance windows. */
export class Maintenance extends Context.Service<Maintenance>()(
  "@scheduling/server/incidents/maintenance/Maintenance",
  {
    make: Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const repo = yield* MaintenanceRepo
      const subjects = yield* SubjectsRepo

      /** Returns the monitors and tasks that a definition names. Rejects unknown ones. */
      const findSubjects = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        { monitor_ids = [], monitor_keys = [], task_ids = [], task_keys = [] }: Selection
      ) {
        const subjectsFound = yield* subjects.find(workspaceId, {
          ids: [...monitor_ids, ...task_ids],
          keys: [...monitor_keys, ...task_keys]
        })
        const monitors = subjectsFound.filter(({ subject }) => subject === "monitor")
        const tasks = subjectsFound.filter(({ subject }) => subject === "task")
        const named = {
          monitor: { field: "monitor", noun: "monitor", ids: monitor_ids, keys: monitor_keys },
          task: { field: "task", noun: "cron task or chain", ids: task_ids, keys: task_keys }
        }
        const selected = {
          monitor: findRecordIds<MonitorId>(named.monitor, monitors),
          task: findRecordIds<TaskId>(named.task, tasks)
        }
        const issues = [
          ...unknownIdIssues(named.monitor, monitors),
          ...unknownIdIssues(named.task, tasks),
          ...selected.monitor.issues,
          ...selected.task.issues
        ]
        if (issues.length > 0) return yield* new ValidationFailed({ issues })
        return { monitor_ids: selected.monitor.ids, task_ids: selected.task.ids }
      })

      const definitions = yield* makeNamedDefinitions({
        resource: "maintenance_window",
        repo,
        changeOf: changesOf("maintenance_window", definitionOf, ({ key }) => ({
          details: { key }
        })),
        toRecords: Effect.fnUntraced(function* (workspaceId, rows) {
          const now = yield* DateTime.nowAsDate
          const ids = rows.flatMap(({ monitor_ids, task_ids }) => [...monitor_ids, ...task_ids])
          const keysOf = keyFinder(yield* subjects.find(workspaceId, { ids }))
          return (row: MaintenanceRow) => toMaintenanceWindow(row, keysOf, now)
        }),
        toRow: (columns, key, defined: Defined): MaintenanceRow => ({
          ...columns,
          key,
          ...defined
        }),
        limit: {
          count: maxMaintenanceWindows,
          message: `A workspace can have at most ${maxMaintenanceWindows} maintenance windows. Delete one that has ended.`
        },
        taken: {
          field: "key",
          message: (key) =>
            `Somebody has just created the maintenance window "${key}". Send the request again to change it.`
        }
      })

      return {
        list: Effect.fn("Maintenance.list")(definitions.list),

        get: Effect.fn("Maintenance.get")(definitions.get),

        upsert: Effect.fn("Maintenance.upsert")(function* (
          workspaceId: AuthorizedWorkspaceId,
          key: string,
          { version, ...definition }: MaintenanceWindowDefinition
        ) {
          const selected = yield* findSubjects(workspaceId, definition)
          const defined = withDefaults({ ...definition, ...selected })
          const known = yield* repo.findForUpdate(workspaceId, key)
          yield* checkScope(defined, ...Option.toArray(known))
          return yield* definitions.upsert(workspaceId, key, defined, version)
        }, transaction),

        remove: Effect.fn("Maintenance.remove")(function* (
          workspaceId: AuthorizedWorkspaceId,
          key: string,
          version?: number
        ) {
          yield* checkScope(...Option.toArray(yield* repo.findForUpdate(workspaceId, key)))
          yield* definitions.remove(workspaceId, key, version)
        }, transaction)
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

/**
 * Fails if a window covers tasks and the API key has no permission to change tasks. Such a key must
 * neither silence tasks nor end their silence.
 */
const checkScope = (...windows: ReadonlyArray<Pick<Defined, "everything" | "tags" | "task_ids">>) =>
  Effect.flatMap(Effect.serviceOption(Principal), (principal) =>
    Option.isSome(principal) &&
    principal.value.kind === "api_key" &&
    !principal.value.scopes.includes("tasks:write") &&
    windows.some(
      ({ everything, tags, task_ids }) => everything || tags.length + task_ids.length > 0
    )
      ? Effect.fail(new InsufficientScope({ required_scope: "tasks:write" }))
      : Effect.void
  )

type Selection = Pick<
  MaintenanceWindowDefinition,
  "monitor_ids" | "monitor_keys" | "task_ids" | "task_keys"
>

type Defined = Pick<
  MaintenanceRow,
  | "duration_seconds"
  | "ends_at"
  | "everything"
  | "monitor_ids"
  | "name"
  | "schedule"
  | "starts_at"
  | "tags"
  | "task_ids"
  | "timezone"
>

const withDefaults = ({
  duration_seconds = null,
  ends_at = null,
  everything = false,
  monitor_ids = [],
  name,
  schedule = null,
  starts_at = null,
  tags = [],
  task_ids = [],
  timezone
}: Omit<MaintenanceWindowDefinition, "version">): Defined => ({
  name,
  starts_at: starts_at === null ? null : new Date(starts_at),
  ends_at: ends_at === null ? null : new Date(ends_at),
  schedule,
  timezone: timezone ?? "UTC",
  duration_seconds,
  everything,
  tags,
  monitor_ids,
  task_ids
})

const definitionOf = (row: MaintenanceRow): RecordedDefinition => {
  const { duration_seconds, everything, key, monitor_ids, name, schedule } = row
  const { tags, task_ids, timezone } = row
  const stored = {
    key,
    name,
    starts_at: timestampOrNull(row.starts_at),
    ends_at: timestampOrNull(row.ends_at),
    schedule,
    timezone,
    duration_seconds,
    everything,
    tags,
    monitor_ids,
    task_ids
  }
  return {
    version: row.version,
    updated_at: row.updated_at,
    updated_by: row.updated_by ?? row.created_by,
    stored,
    shown: stored
  }
}

const toMaintenanceWindow = (
  row: MaintenanceRow,
  keysOf: (ids: ReadonlyArray<string>) => ReadonlyArray<string>,
  now: Date
): MaintenanceWindow => {
  const next = nextMaintenanceStart(row, now)
  return {
    id: MaintenanceWindowId.make(row.id),
    key: row.key,
    workspace_id: row.workspace_id,
    version: row.version,
    name: row.name,
    is_active: isMaintenanceInProgress(row, now),
    next_starts_at: timestampOrNull(next),
    starts_at: timestampOrNull(row.starts_at),
    ends_at: timestampOrNull(row.ends_at),
    schedule: row.schedule,
    timezone: row.timezone,
    duration_seconds: row.duration_seconds,
    everything: row.everything,
    tags: row.tags,
    monitor_ids: row.monitor_ids,
    monitor_keys: keysOf(row.monitor_ids),
    task_ids: row.task_ids,
    task_keys: keysOf(row.task_ids),
    created_by: row.created_by,
    updated_by: row.updated_by ?? row.created_by,
    created_at: timestampOf(row.created_at),
    updated_at: timestampOf(row.updated_at)
  }
}
