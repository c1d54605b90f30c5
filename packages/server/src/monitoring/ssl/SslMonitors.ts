import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { MonitorStatus } from "@scheduling/domain/monitors/Monitor"
import type { SslEvent, SslEventType } from "@scheduling/domain/monitors/ssl/SslEvent"
import {
  defaultPorts,
  sslDefaults,
  type SslMonitor,
  type SslMonitorDefinition,
  type SslMonitorInput,
  type SslMonitorUpdate
} from "@scheduling/domain/monitors/ssl/SslMonitor"
import {
  Conflict,
  type NotFound,
  type QuotaExceeded,
  type ValidationFailed
} from "@scheduling/domain/shared/Errors"
import type { MonitorId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isIPv6 } from "node:net"
import { isDeepStrictEqual } from "node:util"
import { againIfOvertaken, isDefinedAs, orNotFound, upsertByKey } from "../../core/index.ts"
import { pageRequest, StoreClock, timestampOf, toPage, transactionOf } from "../../store/index.ts"
import { targetCheck } from "@scheduling/calls/egress/targetCheck"
import type { MonitorEventRow } from "../MonitorEventsRepo.ts"
import { MonitorRecords, type MonitorsOfKind } from "../MonitorRecords.ts"
import type { LookDetails } from "./Looks.ts"
import { type LookedAtRow, type SslSettings, toSslMonitor } from "./SslRow.ts"
import { SslMonitorsRepo } from "./SslMonitorsRepo.ts"

export class SslMonitors extends Context.Service<
  SslMonitors,
  MonitorsOfKind<SslMonitor, SslMonitorDefinition, SslEvent> & {
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: SslMonitorInput
    ) => Effect.Effect<SslMonitor, NotFound | Conflict | QuotaExceeded | ValidationFailed>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId,
      changes: SslMonitorUpdate
    ) => Effect.Effect<SslMonitor, NotFound | Conflict | ValidationFailed>
    readonly check: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId
    ) => Effect.Effect<SslMonitor, NotFound | Conflict>
  }
>()("@scheduling/server/monitoring/ssl/SslMonitors") {
  static readonly layer: Layer.Layer<
    SslMonitors,
    never,
    MonitorRecords | SqlClient.SqlClient | SslMonitorsRepo
  > = Layer.effect(
    SslMonitors,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const records = yield* MonitorRecords
      const repo = yield* SslMonitorsRepo
      const checkTargets = yield* targetCheck

      const get = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: MonitorId) {
        const at = yield* now
        return toSslMonitor(yield* found(repo.find(workspaceId, id, at)), at)
      })

      const checkHost = (host: string) =>
        checkTargets([{ path: ["host"], url: `https://${isIPv6(host) ? `[${host}]` : host}/` }])

      const findByKey = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        key: string
      ) {
        return yield* repo.findByKey(workspaceId, key, yield* now)
      })

      const make = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        input: SslMonitorInput
      ) {
        yield* checkHost(input.host)
        const defined = { ...withDefaults(input), workspace_id: workspaceId }
        const { created_at, id } = yield* records.create(workspaceId, "ssl", defined)
        yield* repo.insert({ ...defined, monitor_id: id, check_at: created_at })
        return yield* Effect.orDie(get(workspaceId, id))
      })

      const change = Effect.fnUntraced(function* (row: LookedAtRow, changes: SslMonitorUpdate) {
        if (changes.host !== undefined) yield* checkHost(changes.host)
        const at = yield* now
        const changed = { ...row, ...changes }
        yield* records.update(row, changes, at)
        yield* repo.updateSettings(row, changed)
        if (!isDeepStrictEqual(targetOf(changed), targetOf(row))) {
          yield* repo.updateUnseen(row)
          yield* records.beginAgain({ ...row, kind: "ssl" }, at)
        }
        if (row.status !== "paused") yield* repo.updateCheck(row, at)
        return yield* get(row.workspace_id, row.monitor_id)
      })

      const setPaused = (isPaused: boolean) =>
        Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: MonitorId) {
          const row = yield* found(repo.findForUpdate(workspaceId, id))
          if ((row.status === "paused") !== isPaused) {
            const at = yield* now
            yield* repo.updateCheck(row, isPaused ? null : at)
            yield* records.setPaused({ ...row, kind: "ssl" }, isPaused, at)
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

        create: Effect.fn("SslMonitors.create")(make, transaction),

        upsert: Effect.fn("SslMonitors.upsert")(
          (workspaceId, key, definition) => {
            const defined = { ...withDefaults(definition), key }
            return upsertByKey(key, {
              find: findByKey(workspaceId, key),
              make: make(workspaceId, defined),
              isDefined: (row) => Effect.succeed(isDefinedAs(row, defined)),
              show: (row) => Effect.map(now, (at) => toSslMonitor(row, at)),
              lock: ({ id }) => repo.findForUpdate(workspaceId, id),
              change: (row) => change(row, defined)
            })
          },
          transaction,
          againIfOvertaken
        ),

        update: Effect.fn("SslMonitors.update")(function* (workspaceId, id, changes) {
          const row = yield* found(repo.findForUpdate(workspaceId, id))
          if (Object.keys(changes).length === 0) return yield* get(workspaceId, id)
          return yield* change(row, changes)
        }, transaction),

        remove: Effect.fn("SslMonitors.remove")(function* (workspaceId, id) {
          yield* records.remove(workspaceId, found(repo.findForUpdate(workspaceId, id)))
        }, transaction),

        pause: setPaused(true),

        resume: setPaused(false),

        check: Effect.fn("SslMonitors.check")(function* (workspaceId, id) {
          const row = yield* found(repo.findForUpdate(workspaceId, id))
          if (row.status === "paused") {
            return yield* new Conflict({ message: "The monitor is paused; resume it first." })
          }
          // A failure is confirmed a minute later, and its second look comes by then.
          const isConfirming = row.failures > 0 && row.status !== "down"
          if (!isConfirming) yield* repo.updateCheck(row, yield* now)
          return yield* get(workspaceId, id)
        }, transaction),

        events: Effect.fn("SslMonitors.events")(function* (workspaceId, id, query) {
          yield* get(workspaceId, id)
          return yield* records.events<LookDetails, SslEvent>(workspaceId, id, query, toEvent)
        })
      })
    })
  )
}

const withDefaults = (input: SslMonitorInput) => ({
  ...sslDefaults,
  port: defaultPorts[input.protocol ?? sslDefaults.protocol],
  ...input
})

/** Whose certificate it is. */
const targetOf = ({ host, port, protocol, server_name }: SslSettings) => ({
  host,
  port,
  protocol,
  name: server_name ?? host
})

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
