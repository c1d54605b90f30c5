import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { MonitorStatus } from "@scheduling/domain/monitors/Monitor"
import type {
  ProcessEvent,
  ProcessEventType
} from "@scheduling/domain/monitors/process/ProcessEvent"
import {
  countProblem,
  leastCount,
  processDefaults,
  type ProcessMonitor,
  type ProcessMonitorDefinition,
  type ProcessMonitorInput,
  type ProcessMonitorUpdate
} from "@scheduling/domain/monitors/process/ProcessMonitor"
import {
  type Conflict,
  type NotFound,
  type QuotaExceeded,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import type { MonitorId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { againIfOvertaken, isDefinedAs, orNotFound, upsertByKey } from "../../core/index.ts"
import { pageRequest, StoreClock, timestampOf, toPage, transactionOf } from "../../store/index.ts"
import type { MonitorEventRow } from "../MonitorEventsRepo.ts"
import { MonitorRecords, type MonitorsOfKind } from "../MonitorRecords.ts"
import { silentAfterMs } from "./decideProcess.ts"
import { type ProcessSettings, toProcessMonitor, type WatchedRow } from "./ProcessRow.ts"
import { ProcessMonitorsRepo } from "./ProcessMonitorsRepo.ts"

export class ProcessMonitors extends Context.Service<
  ProcessMonitors,
  MonitorsOfKind<ProcessMonitor, ProcessMonitorDefinition, ProcessEvent> & {
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: ProcessMonitorInput
    ) => Effect.Effect<ProcessMonitor, NotFound | Conflict | QuotaExceeded | ValidationFailed>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId,
      changes: ProcessMonitorUpdate
    ) => Effect.Effect<ProcessMonitor, NotFound | Conflict | ValidationFailed>
  }
>()("@scheduling/server/monitoring/process/ProcessMonitors") {
  static readonly layer: Layer.Layer<
    ProcessMonitors,
    never,
    MonitorRecords | ProcessMonitorsRepo | SqlClient.SqlClient
  > = Layer.effect(
    ProcessMonitors,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const records = yield* MonitorRecords
      const repo = yield* ProcessMonitorsRepo

      const get = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: MonitorId) {
        const at = yield* now
        return toProcessMonitor(yield* found(repo.find(workspaceId, id, at)))
      })

      const checkWorker = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        workerId: string | undefined
      ) {
        if (workerId !== undefined && !(yield* repo.hasWorker(workspaceId, workerId))) {
          const message = "is no worker of this workspace"
          return yield* new ValidationFailed({ issues: [{ path: ["worker_id"], message }] })
        }
      })

      const findByKey = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        key: string
      ) {
        return yield* repo.findByKey(workspaceId, key, yield* now)
      })

      const make = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        input: ProcessMonitorInput
      ) {
        const defined = { ...withDefaults(input), workspace_id: workspaceId }
        const { created_at, id } = yield* records.create(workspaceId, "process", defined)
        yield* checkWorker(workspaceId, input.worker_id)
        const check_at = later(created_at, defined)
        yield* repo.insert({ ...defined, monitor_id: id, since: created_at, check_at })
        return yield* Effect.orDie(get(workspaceId, id))
      })

      const change = Effect.fnUntraced(function* (
        row: WatchedRow,
        named: Parameters<typeof records.update>[1],
        settings: ProcessSettings
      ) {
        const at = yield* now
        yield* records.update(row, named, at)
        yield* repo.updateSettings(row, settings)
        yield* repo.updateSince(row, at, row.status === "paused" ? null : later(at, settings))
        return yield* get(row.workspace_id, row.monitor_id)
      })

      const setPaused = (isPaused: boolean) =>
        Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: MonitorId) {
          const row = yield* found(repo.findForUpdate(workspaceId, id))
          if ((row.status === "paused") !== isPaused) {
            const at = yield* now
            yield* repo.updateSince(row, at, isPaused ? null : later(at, row))
            yield* records.setPaused({ ...row, kind: "process" }, isPaused, at)
          }
          return yield* get(workspaceId, id)
        }, transaction)

      return ProcessMonitors.of({
        list: Effect.fn("ProcessMonitors.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          const at = yield* now
          const rows = yield* repo.list(workspaceId, query, page, at)
          return toPage(rows, page, toProcessMonitor)
        }),

        get,

        create: Effect.fn("ProcessMonitors.create")(make, transaction),

        upsert: Effect.fn("ProcessMonitors.upsert")(
          (workspaceId, key, definition) => {
            const worker_id = definition.worker_id?.toLowerCase() ?? null
            const defined = { ...withDefaults(definition), worker_id, key }
            return upsertByKey(key, {
              find: findByKey(workspaceId, key),
              make: make(workspaceId, { ...definition, key }),
              isDefined: (row) => Effect.succeed(isDefinedAs(row, defined)),
              show: (row) => Effect.succeed(toProcessMonitor(row)),
              lock: ({ id }) =>
                Effect.andThen(
                  checkWorker(workspaceId, definition.worker_id),
                  repo.findForUpdate(workspaceId, id)
                ),
              change: (row) => change(row, defined, defined)
            })
          },
          transaction,
          againIfOvertaken
        ),

        update: Effect.fn("ProcessMonitors.update")(function* (workspaceId, id, changes) {
          yield* checkWorker(workspaceId, changes.worker_id)
          const row = yield* found(repo.findForUpdate(workspaceId, id))
          if (Object.keys(changes).length === 0) return yield* get(workspaceId, id)
          const moves = changes.worker_id !== undefined || changes.labels !== undefined
          const settings = { ...row, ...(moves && nowhere), ...changes }
          const problem = countProblem(settings)
          if (problem !== undefined) {
            const { issue: message, path } = problem
            return yield* new ValidationFailed({ issues: [{ path, message }] })
          }
          return yield* change(row, changes, settings)
        }, transaction),

        remove: Effect.fn("ProcessMonitors.remove")(function* (workspaceId, id) {
          yield* records.remove(workspaceId, found(repo.findForUpdate(workspaceId, id)))
        }, transaction),

        pause: setPaused(true),

        resume: setPaused(false),

        events: Effect.fn("ProcessMonitors.events")(function* (workspaceId, id, query) {
          yield* get(workspaceId, id)
          return yield* records.events<Details, ProcessEvent>(workspaceId, id, query, toEvent)
        })
      })
    })
  )
}

/** Where it is watched comes from its author. */
const nowhere = { worker_id: null, labels: null }

const withDefaults = (input: ProcessMonitorInput) => ({
  ...processDefaults,
  ...nowhere,
  min_count: leastCount(input),
  ...input
})

interface Details {
  readonly message: string
}

/** A worker that is never heard of makes it go down too. */
const later = (at: Date, rules: Parameters<typeof silentAfterMs>[0]) =>
  new Date(at.getTime() + silentAfterMs(rules))

const toEvent = (row: MonitorEventRow<Details>): ProcessEvent => ({
  id: row.id,
  type: row.type as ProcessEventType,
  at: timestampOf(row.at),
  status: row.status as MonitorStatus,
  message: row.details?.message ?? null
})

const found = orNotFound("monitor")
