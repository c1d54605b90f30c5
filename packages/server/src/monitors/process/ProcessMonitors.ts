import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { type MonitorFilters, type MonitorStatus } from "@scheduling/domain/monitors/Monitor"
import type {
  ProcessEvent,
  ProcessEventType
} from "@scheduling/domain/monitors/process/ProcessEvent"
import {
  processDefaults,
  type ProcessMonitor,
  type ProcessMonitorInput,
  type ProcessMonitorUpdate
} from "@scheduling/domain/monitors/process/ProcessMonitor"
import { NotFound, type QuotaExceeded } from "@scheduling/domain/shared/Errors"
import { MonitorId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/Page"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Outbox } from "../../outbox/Outbox.ts"
import { Limits } from "../../limits/Limits.ts"
import { Ids } from "../../platform/Ids.ts"
import { orNotFound } from "../../platform/orNotFound.ts"
import { pageRequest, toPage } from "../../sql/Pages.ts"
import { StoreClock } from "../../sql/StoreClock.ts"
import { timestampOf } from "../../sql/timestamp.ts"
import { transactionOf } from "../../sql/transaction.ts"
import { type MonitorEventRow, MonitorEventsRepo } from "../MonitorEventsRepo.ts"
import { MonitorsRepo } from "../MonitorsRepo.ts"
import { StatusChanges } from "../StatusChanges.ts"
import { silentAfterMs } from "./decideProcess.ts"
import { toProcessMonitor } from "./ProcessRow.ts"
import { ProcessMonitorsRepo } from "./ProcessMonitorsRepo.ts"

export class ProcessMonitors extends Context.Service<
  ProcessMonitors,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: PageQuery & MonitorFilters
    ) => Effect.Effect<Page<ProcessMonitor>>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId
    ) => Effect.Effect<ProcessMonitor, NotFound>
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: ProcessMonitorInput
    ) => Effect.Effect<ProcessMonitor, NotFound | QuotaExceeded>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId,
      changes: ProcessMonitorUpdate
    ) => Effect.Effect<ProcessMonitor, NotFound>
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId
    ) => Effect.Effect<void, NotFound>
    readonly pause: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId
    ) => Effect.Effect<ProcessMonitor, NotFound>
    readonly resume: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId
    ) => Effect.Effect<ProcessMonitor, NotFound>
    readonly events: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId,
      query: PageQuery
    ) => Effect.Effect<Page<ProcessEvent>, NotFound>
  }
>()("@scheduling/server/monitors/process/ProcessMonitors") {
  static readonly layer: Layer.Layer<
    ProcessMonitors,
    never,
    | Ids
    | Limits
    | MonitorEventsRepo
    | MonitorsRepo
    | Outbox
    | SqlClient.SqlClient
    | ProcessMonitorsRepo
    | StatusChanges
  > = Layer.effect(
    ProcessMonitors,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const ids = yield* Ids
      const limits = yield* Limits
      const events = yield* MonitorEventsRepo
      const monitors = yield* MonitorsRepo
      const outbox = yield* Outbox
      const repo = yield* ProcessMonitorsRepo
      const statusChanges = yield* StatusChanges

      const get = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: MonitorId) {
        const at = yield* now
        return toProcessMonitor(yield* found(repo.find(workspaceId, id, at)))
      })

      const checkWorker = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        workerId: string
      ) {
        if (!(yield* repo.hasWorker(workspaceId, workerId))) {
          return yield* new NotFound({ resource: "worker" })
        }
      })

      const setPaused = (isPaused: boolean) =>
        Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: MonitorId) {
          const row = yield* found(repo.claim(workspaceId, id))
          if ((row.status === "paused") !== isPaused) {
            const { monitor_id, status: from, workspace_id } = row
            const at = yield* now
            const place = { workspace_id, monitor_id, at: at.getTime() }
            const to = isPaused ? "paused" : "new"
            yield* repo.updateCheck(row, isPaused ? null : later(at, row))
            yield* statusChanges.record([{ ...place, kind: "process", from, to, cause: null }])
            const type = isPaused ? "paused" : "resumed"
            yield* events.insert([{ ...place, type, status: to, details: null }])
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

        create: Effect.fn("ProcessMonitors.create")(function* (workspaceId, input) {
          yield* limits.allowOneMore(workspaceId, "monitors")
          yield* checkWorker(workspaceId, input.worker_id)
          const at = yield* now
          const id = MonitorId.make(yield* ids.next)
          const defined = {
            ...processDefaults,
            ...input,
            workspace_id: workspaceId
          }
          yield* monitors.insert({ ...defined, id, kind: "process", created_at: at })
          yield* repo.insert({ ...defined, monitor_id: id, check_at: later(at, defined) })
          return yield* Effect.orDie(get(workspaceId, id))
        }, transaction),

        update: Effect.fn("ProcessMonitors.update")(function* (workspaceId, id, changes) {
          if (changes.worker_id !== undefined) yield* checkWorker(workspaceId, changes.worker_id)
          const row = yield* found(repo.claim(workspaceId, id))
          if (Object.keys(changes).length === 0) return yield* get(workspaceId, id)
          const at = yield* now
          const before = yield* found(repo.find(workspaceId, id, at))
          yield* monitors.update({ ...before, ...changes, updated_at: at })
          yield* repo.updateSettings(row, { ...row, ...changes })
          if (row.status !== "paused")
            yield* repo.updateCheck(row, later(at, { ...row, ...changes }))
          return yield* get(workspaceId, id)
        }, transaction),

        remove: Effect.fn("ProcessMonitors.remove")(function* (workspaceId, id) {
          yield* found(repo.claim(workspaceId, id))
          yield* monitors.remove(workspaceId, id)
          yield* outbox.forget({ workspace_id: workspaceId, subject_id: id })
        }, transaction),

        pause: setPaused(true),

        resume: setPaused(false),

        events: Effect.fn("ProcessMonitors.events")(function* (workspaceId, id, query) {
          yield* get(workspaceId, id)
          const page = pageRequest(query)
          return toPage(yield* events.list<Details>(workspaceId, id, page), page, toEvent)
        })
      })
    })
  )
}

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
