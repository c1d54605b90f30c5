import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import {
  type MaintenanceWindow,
  type MaintenanceWindowDefinition,
  maxMaintenanceWindows
} from "@scheduling/domain/maintenance/MaintenanceWindow"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { MaintenanceWindowId } from "@scheduling/domain/shared/Ids"
import type { PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { changesOf, makeNamedDefinitions, type RecordedDefinition } from "../../accounts/index.ts"
import { orNotFound } from "../../core/index.ts"
import {
  pageRequest,
  timestampOf,
  timestampOrNull,
  toPage,
  transactionOf
} from "../../store/index.ts"
import { type MaintenanceRow, MaintenanceRepo } from "./MaintenanceRepo.ts"
import { isInProgress, nextStart } from "./occurrences.ts"

/** The operations on the definitions of maintenance windows. */
export class Maintenance extends Context.Service<Maintenance>()(
  "@scheduling/server/incidents/maintenance/Maintenance",
  {
    make: Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const repo = yield* MaintenanceRepo

      /** Rejects monitors and tasks that the workspace does not have. */
      const checkSubjects = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        { monitor_ids, task_ids }: Defined
      ) {
        const named = { monitor_ids, task_ids }
        const known = yield* repo.findSubjects(workspaceId, [...monitor_ids, ...task_ids])
        for (const field of ["monitor_ids", "task_ids"] as const) {
          const index = named[field].findIndex((id) => !known.has(id))
          if (index === -1) continue
          const what = field === "monitor_ids" ? "a monitor" : "a cron task or a chain"
          return yield* ValidationFailed.at(
            [field, index],
            "invalid",
            `is not ${what} of this workspace`
          )
        }
      })

      const definitions = yield* makeNamedDefinitions({
        resource: "maintenance_window",
        repo,
        changeOf: changesOf("maintenance_window", definitionOf, ({ key }) => ({
          details: { key }
        })),
        toRow: (columns, key, defined: Defined): MaintenanceRow => ({
          ...columns,
          key,
          ...defined
        }),
        limit: {
          count: maxMaintenanceWindows,
          message: `A workspace can have at most ${maxMaintenanceWindows} maintenance windows. Delete one that is over.`
        },
        taken: {
          field: "key",
          message: (key) =>
            `Somebody has just created the maintenance window "${key}". Send the request again to change it.`
        }
      })

      const shown = (row: MaintenanceRow) =>
        Effect.map(DateTime.nowAsDate, (now) => toMaintenanceWindow(row, now))

      return {
        list: Effect.fn("Maintenance.list")(function* (
          workspaceId: AuthorizedWorkspaceId,
          query: PageQuery
        ) {
          const page = pageRequest(query)
          const now = yield* DateTime.nowAsDate
          return toPage(yield* repo.list(workspaceId, page), page, (row) =>
            toMaintenanceWindow(row, now)
          )
        }),

        get: Effect.fn("Maintenance.get")(function* (
          workspaceId: AuthorizedWorkspaceId,
          key: string
        ) {
          return yield* shown(yield* found(repo.find(workspaceId, key)))
        }),

        upsert: Effect.fn("Maintenance.upsert")(function* (
          workspaceId: AuthorizedWorkspaceId,
          key: string,
          { version, ...definition }: MaintenanceWindowDefinition
        ) {
          const defined = withDefaults(definition)
          yield* checkSubjects(workspaceId, defined)
          const { isNew, row } = yield* definitions.upsert(workspaceId, key, defined, version)
          return { isNew, record: yield* shown(row) }
        }, transaction),

        remove: Effect.fn("Maintenance.remove")(definitions.remove, transaction)
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

const found = orNotFound("maintenance_window")

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

const toMaintenanceWindow = (row: MaintenanceRow, now: Date): MaintenanceWindow => {
  const next = nextStart(row, now)
  return {
    id: MaintenanceWindowId.make(row.id),
    key: row.key,
    workspace_id: row.workspace_id,
    version: row.version,
    name: row.name,
    is_active: isInProgress(row, now),
    next_starts_at: timestampOrNull(next),
    starts_at: timestampOrNull(row.starts_at),
    ends_at: timestampOrNull(row.ends_at),
    schedule: row.schedule,
    timezone: row.timezone,
    duration_seconds: row.duration_seconds,
    everything: row.everything,
    tags: row.tags,
    monitor_ids: row.monitor_ids,
    task_ids: row.task_ids,
    created_by: row.created_by,
    updated_by: row.updated_by ?? row.created_by,
    created_at: timestampOf(row.created_at),
    updated_at: timestampOf(row.updated_at)
  }
}
