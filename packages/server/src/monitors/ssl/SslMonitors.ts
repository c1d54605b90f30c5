import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { type MonitorFilters, type MonitorStatus } from "@scheduling/domain/monitors/Monitor"
import type { SslEvent, SslEventType } from "@scheduling/domain/monitors/ssl/SslEvent"
import {
  defaultPorts,
  sslDefaults,
  type SslMonitor,
  type SslMonitorInput,
  type SslMonitorUpdate
} from "@scheduling/domain/monitors/ssl/SslMonitor"
import {
  Conflict,
  type NotFound,
  type QuotaExceeded,
  type ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { MonitorId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/Page"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isIPv6 } from "node:net"
import { Outbox } from "../../outbox/Outbox.ts"
import { Limits } from "../../limits/Limits.ts"
import { Ids } from "../../platform/Ids.ts"
import { orNotFound } from "../../platform/orNotFound.ts"
import { pageRequest, toPage } from "../../sql/Pages.ts"
import { StoreClock } from "../../sql/StoreClock.ts"
import { timestampOf } from "../../sql/timestamp.ts"
import { transactionOf } from "../../sql/transaction.ts"
import { targetCheck } from "../../tasks/targets.ts"
import { type MonitorEventRow, MonitorEventsRepo } from "../MonitorEventsRepo.ts"
import { MonitorsRepo } from "../MonitorsRepo.ts"
import { StatusChanges } from "../StatusChanges.ts"
import type { LookDetails } from "./Looks.ts"
import { toSslMonitor } from "./SslRow.ts"
import { SslMonitorsRepo } from "./SslMonitorsRepo.ts"

export class SslMonitors extends Context.Service<
  SslMonitors,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: PageQuery & MonitorFilters
    ) => Effect.Effect<Page<SslMonitor>>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId
    ) => Effect.Effect<SslMonitor, NotFound>
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: SslMonitorInput
    ) => Effect.Effect<SslMonitor, NotFound | QuotaExceeded | ValidationFailed>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId,
      changes: SslMonitorUpdate
    ) => Effect.Effect<SslMonitor, NotFound | ValidationFailed>
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId
    ) => Effect.Effect<void, NotFound>
    readonly pause: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId
    ) => Effect.Effect<SslMonitor, NotFound>
    readonly resume: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId
    ) => Effect.Effect<SslMonitor, NotFound>
    readonly check: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId
    ) => Effect.Effect<SslMonitor, NotFound | Conflict>
    readonly events: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId,
      query: PageQuery
    ) => Effect.Effect<Page<SslEvent>, NotFound>
  }
>()("@scheduling/server/monitors/ssl/SslMonitors") {
  static readonly layer: Layer.Layer<
    SslMonitors,
    never,
    | Ids
    | Limits
    | MonitorEventsRepo
    | MonitorsRepo
    | Outbox
    | SqlClient.SqlClient
    | SslMonitorsRepo
    | StatusChanges
  > = Layer.effect(
    SslMonitors,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const ids = yield* Ids
      const limits = yield* Limits
      const events = yield* MonitorEventsRepo
      const monitors = yield* MonitorsRepo
      const outbox = yield* Outbox
      const repo = yield* SslMonitorsRepo
      const statusChanges = yield* StatusChanges
      const checkTargets = yield* targetCheck

      const get = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: MonitorId) {
        const at = yield* now
        return toSslMonitor(yield* found(repo.find(workspaceId, id, at)), at)
      })

      const checkHost = (host: string) =>
        checkTargets([{ path: ["host"], url: `https://${isIPv6(host) ? `[${host}]` : host}/` }])

      const setPaused = (isPaused: boolean) =>
        Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: MonitorId) {
          const row = yield* found(repo.claim(workspaceId, id))
          if ((row.status === "paused") !== isPaused) {
            const { monitor_id, status: from, workspace_id } = row
            const at = yield* now
            const place = { workspace_id, monitor_id, at: at.getTime() }
            const to = isPaused ? "paused" : "new"
            yield* repo.updateCheck(row, isPaused ? null : at)
            yield* statusChanges.record([{ ...place, kind: "ssl", from, to, cause: null }])
            const type = isPaused ? "paused" : "resumed"
            yield* events.insert([{ ...place, type, status: to, details: null }])
          }
          return yield* get(workspaceId, id)
        }, transaction)

      return SslMonitors.of({
        list: Effect.fn("SslMonitors.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          const at = yield* now
          const rows = yield* repo.list(workspaceId, query, page, at)
          return toPage(rows, page, (row) => toSslMonitor(row, at))
        }),

        get,

        create: Effect.fn("SslMonitors.create")(function* (workspaceId, input) {
          yield* checkHost(input.host)
          yield* limits.allowOneMore(workspaceId, "monitors")
          const at = yield* now
          const id = MonitorId.make(yield* ids.next)
          const defined = {
            ...sslDefaults,
            port: defaultPorts[input.protocol ?? sslDefaults.protocol],
            ...input,
            workspace_id: workspaceId
          }
          yield* monitors.insert({ ...defined, id, kind: "ssl", created_at: at })
          yield* repo.insert({ ...defined, monitor_id: id, check_at: at })
          return yield* Effect.orDie(get(workspaceId, id))
        }, transaction),

        update: Effect.fn("SslMonitors.update")(function* (workspaceId, id, changes) {
          const row = yield* found(repo.claim(workspaceId, id))
          if (changes.host !== undefined) yield* checkHost(changes.host)
          if (Object.keys(changes).length === 0) return yield* get(workspaceId, id)
          const at = yield* now
          const before = yield* found(repo.find(workspaceId, id, at))
          yield* monitors.update({ ...before, ...changes, updated_at: at })
          yield* repo.updateSettings(row, { ...row, ...changes })
          if (row.status !== "paused") yield* repo.updateCheck(row, at)
          return yield* get(workspaceId, id)
        }, transaction),

        remove: Effect.fn("SslMonitors.remove")(function* (workspaceId, id) {
          yield* found(repo.claim(workspaceId, id))
          yield* monitors.remove(workspaceId, id)
          yield* outbox.forget({ workspace_id: workspaceId, subject_id: id })
        }, transaction),

        pause: setPaused(true),

        resume: setPaused(false),

        check: Effect.fn("SslMonitors.check")(function* (workspaceId, id) {
          const row = yield* found(repo.claim(workspaceId, id))
          if (row.status === "paused") {
            return yield* new Conflict({ message: "The monitor is paused; resume it first." })
          }
          yield* repo.updateCheck(row, yield* now)
          return yield* get(workspaceId, id)
        }, transaction),

        events: Effect.fn("SslMonitors.events")(function* (workspaceId, id, query) {
          yield* get(workspaceId, id)
          const page = pageRequest(query)
          return toPage(yield* events.list<LookDetails>(workspaceId, id, page), page, toEvent)
        })
      })
    })
  )
}

const toEvent = (row: MonitorEventRow<LookDetails>): SslEvent => ({
  id: row.id,
  type: row.type as SslEventType,
  at: timestampOf(row.at),
  status: row.status as MonitorStatus,
  verification: row.details?.verification ?? null,
  message: row.details?.message ?? null,
  fingerprint_sha256: row.details?.fingerprint_sha256 ?? null,
  duration_ms: row.details?.duration_ms ?? null
})

const found = orNotFound("monitor")
