import type {
  HeartbeatEvent,
  HeartbeatEventType
} from "@scheduling/domain/monitors/heartbeat/HeartbeatEvent"
import {
  heartbeatDefaults,
  type HeartbeatMonitorDefinition,
  type HeartbeatMonitorInput,
  type HeartbeatMonitorUpdate,
  timingProblem
} from "@scheduling/domain/monitors/heartbeat/HeartbeatMonitor"
import type { MonitorStatus } from "@scheduling/domain/monitors/Monitor"
import {
  type Conflict,
  type NotFound,
  type QuotaExceeded,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { MonitorId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { againIfOvertaken, isDefinedAs, orNotFound, upsertByKey } from "../../core/index.ts"
import { pageRequest, StoreClock, timestampOf, toPage, transactionOf } from "../../store/index.ts"
import { type MonitorEventRow, MonitorEventsRepo } from "../MonitorEventsRepo.ts"
import { MonitorRecords, type MonitorsOfKind } from "../MonitorRecords.ts"
import { StatusChanges } from "../StatusChanges.ts"
import { decideHeartbeat, type HeartbeatRules, type HeartbeatSignal } from "./decideHeartbeat.ts"
import {
  type Heartbeat,
  type HeartbeatRow,
  stateOf,
  toHeartbeat,
  type WatchedRow
} from "./HeartbeatRow.ts"
import { HeartbeatsRepo } from "./HeartbeatsRepo.ts"
import { type PingDetails, changesOf, eventsOf } from "./outcome.ts"
import { PingUrls } from "./PingUrls.ts"

export class Heartbeats extends Context.Service<
  Heartbeats,
  MonitorsOfKind<Heartbeat, HeartbeatMonitorDefinition, HeartbeatEvent> & {
    readonly create: (
      workspaceId: AuthorizedWorkspaceId,
      input: HeartbeatMonitorInput
    ) => Effect.Effect<Heartbeat, NotFound | Conflict | QuotaExceeded>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId,
      changes: HeartbeatMonitorUpdate
    ) => Effect.Effect<Heartbeat, NotFound | Conflict | ValidationFailed>
    readonly rotateUrl: (
      workspaceId: AuthorizedWorkspaceId,
      id: MonitorId
    ) => Effect.Effect<Heartbeat, NotFound>
  }
>()("@scheduling/server/monitoring/heartbeat/Heartbeats") {
  static readonly layer: Layer.Layer<
    Heartbeats,
    never,
    | HeartbeatsRepo
    | MonitorEventsRepo
    | MonitorRecords
    | PingUrls
    | SqlClient.SqlClient
    | StatusChanges
  > = Layer.effect(
    Heartbeats,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const now = Effect.orDie((yield* StoreClock)(sql))
      const events = yield* MonitorEventsRepo
      const records = yield* MonitorRecords
      const repo = yield* HeartbeatsRepo
      const statusChanges = yield* StatusChanges
      const urls = yield* PingUrls

      const shown = (row: HeartbeatRow) => toHeartbeat(row, urls.open(row.id, row.sealed_ping_id))

      const get = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: MonitorId) {
        return shown(yield* found(repo.find(workspaceId, id, yield* now)))
      })

      /** Inside the transaction that locked the row. */
      const decide = Effect.fnUntraced(function* (
        row: WatchedRow,
        signal: HeartbeatSignal,
        at: Date,
        rules: HeartbeatRules = row
      ) {
        const decision = decideHeartbeat(rules, stateOf(row), signal, at.getTime())
        yield* repo.updateLocked([{ row, rules, state: decision.state }])
        yield* events.insert(eventsOf(row, decision.records))
        yield* statusChanges.record(changesOf(row, decision.changes))
      })

      const findByKey = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        key: string
      ) {
        return yield* repo.findByKey(workspaceId, key, yield* now)
      })

      const make = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        input: HeartbeatMonitorInput
      ) {
        const defined = { ...heartbeatDefaults, ...input }
        const { id } = yield* records.create(workspaceId, "heartbeat", defined)
        yield* repo.insert({ ...defined, id, workspace_id: workspaceId })
        yield* repo.updatePingUrl(urls.make({ monitor_id: id, workspace_id: workspaceId }))
        return yield* Effect.orDie(get(workspaceId, id))
      })

      const change = Effect.fnUntraced(function* (
        row: WatchedRow,
        named: Parameters<typeof records.update>[1],
        rules: HeartbeatRules
      ) {
        const at = yield* now
        yield* records.update(row, named, at)
        if (timing.some((field) => rules[field] !== row[field])) {
          yield* decide(row, { type: "rules", before: row }, at, rules)
        }
        return yield* get(row.workspace_id, row.monitor_id)
      })

      const lockAndDecide = (type: "pause" | "resume") =>
        Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId, id: MonitorId) {
          const row = yield* found(repo.findForUpdate(workspaceId, id))
          const isDone = (row.status === "paused") === (type === "pause")
          if (!isDone) yield* decide(row, { type }, yield* now)
          return yield* get(workspaceId, id)
        }, transaction)

      return Heartbeats.of({
        list: Effect.fn("Heartbeats.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          return toPage(yield* repo.list(workspaceId, query, page, yield* now), page, shown)
        }),

        get,

        create: Effect.fn("Heartbeats.create")(make, transaction),

        upsert: Effect.fn("Heartbeats.upsert")(
          (workspaceId, key, definition) => {
            const defined = { ...heartbeatDefaults, ...definition, key }
            return upsertByKey(key, {
              find: findByKey(workspaceId, key),
              make: make(workspaceId, { ...definition, key }),
              isDefined: (row) => Effect.succeed(isDefinedAs(row, defined)),
              show: (row) => Effect.succeed(shown(row)),
              lock: ({ id }) => repo.findForUpdate(workspaceId, id),
              change: (row) => change(row, defined, { ...row, ...defined })
            })
          },
          transaction,
          againIfOvertaken
        ),

        update: Effect.fn("Heartbeats.update")(function* (workspaceId, id, changes) {
          const row = yield* found(repo.findForUpdate(workspaceId, id))
          if (Object.keys(changes).length === 0) return yield* get(workspaceId, id)
          const rules = { ...row, ...rulesFrom(changes) }
          const problem = problemOf(changes, rules)
          if (problem !== undefined) {
            const { issue: message, path } = problem
            return yield* new ValidationFailed({ issues: [{ path, message }] })
          }
          return yield* change(row, changes, rules)
        }, transaction),

        remove: Effect.fn("Heartbeats.remove")(function* (workspaceId, id) {
          yield* records.remove(workspaceId, found(repo.findForUpdate(workspaceId, id)))
        }, transaction),

        pause: lockAndDecide("pause"),

        resume: lockAndDecide("resume"),

        rotateUrl: Effect.fn("Heartbeats.rotateUrl")(function* (workspaceId, id) {
          const { monitor_id } = yield* found(repo.findForUpdate(workspaceId, id))
          yield* repo.updatePingUrl(urls.make({ monitor_id, workspace_id: workspaceId }))
          return yield* get(workspaceId, id)
        }, transaction),

        events: Effect.fn("Heartbeats.events")(function* (workspaceId, id, query) {
          yield* get(workspaceId, id)
          return yield* records.events<PingDetails, HeartbeatEvent>(workspaceId, id, query, toEvent)
        })
      })
    })
  )
}

/** The fields that decide when a ping is due and what is a fault. */
const timing = [
  "period_seconds",
  "schedule",
  "timezone",
  "grace_seconds",
  "max_duration_seconds",
  "min_interval_seconds"
] as const

/** A period takes the place of a schedule, and the other way round. */
const rulesFrom = (changes: HeartbeatMonitorUpdate): Partial<HeartbeatRules> => ({
  ...changes,
  ...(changes.period_seconds === undefined
    ? {}
    : { schedule: null, timezone: heartbeatDefaults.timezone }),
  ...(changes.schedule === undefined ? {} : { period_seconds: null })
})

const problemOf = (changes: HeartbeatMonitorUpdate, rules: HeartbeatRules) =>
  changes.timezone !== undefined && rules.schedule === null
    ? { path: ["timezone"], issue: "goes with a schedule, and this monitor has a period" }
    : timingProblem(rules)

const toEvent = (row: MonitorEventRow<PingDetails>): HeartbeatEvent => ({
  id: row.id,
  type: row.type as HeartbeatEventType,
  at: timestampOf(row.at),
  status: row.status as MonitorStatus,
  rid: row.details?.rid ?? null,
  exit_status: row.details?.exit_status ?? null,
  duration_ms: row.details?.duration_ms ?? null,
  method: row.details?.method ?? null,
  ip: row.details?.ip ?? null,
  user_agent: row.details?.user_agent ?? null,
  body: row.details?.body ?? null,
  body_dropped: row.details?.body_dropped ?? false
})

const found = orNotFound("monitor")
