import type { HeartbeatEvent } from "@scheduling/domain/monitors/heartbeat/HeartbeatEvent"
import {
  heartbeatDefaults,
  type HeartbeatMonitorInput,
  type HeartbeatMonitorUpdate,
  timingProblem,
  timezoneWithoutScheduleProblem
} from "@scheduling/domain/monitors/heartbeat/HeartbeatMonitor"
import type { FieldProblem } from "@scheduling/domain/shared/ValidationIssue"
import { Effect } from "effect"
import type { MonitorDecision, MonitorKind } from "../MonitorKind.ts"
import { decideHeartbeat, type HeartbeatRules, type HeartbeatSignal } from "./decideHeartbeat.ts"
import {
  type Heartbeat,
  type HeartbeatColumns,
  type HeartbeatRow,
  heartbeatState,
  heartbeatTable,
  toHeartbeat,
  toPingColumns
} from "./HeartbeatRow.ts"
import { HeartbeatsRepo, type SealedPingUrl } from "./HeartbeatsRepo.ts"
import { toStatusChanges, toHeartbeatEvents, type PingDetails } from "./heartbeatEvents.ts"
import { PingUrls } from "./PingUrls.ts"

export interface HeartbeatTypes {
  readonly Row: HeartbeatRow
  readonly Columns: HeartbeatColumns
  readonly Joined: SealedPingUrl
  readonly Input: HeartbeatMonitorInput
  readonly Changes: HeartbeatMonitorUpdate
  readonly Monitor: Heartbeat
  readonly Details: PingDetails
  readonly Event: HeartbeatEvent
}

/**
 * Defines the heartbeat monitor, which waits for pings. `Pings` records them, and `Deadlines`
 * detects missing ones.
 */
export const heartbeatMonitorKind = Effect.gen(function* () {
  const rows = yield* HeartbeatsRepo
  const urls = yield* PingUrls
  const kind: MonitorKind<HeartbeatTypes> = {
    table: heartbeatTable,
    rows,
    toSettings: ({ ping_id: _, ...input }) => ({ ...heartbeatDefaults, ...input }),
    changeSettings: (row, changes) => {
      const rules = { ...row, ...rulesFrom(changes) }
      return problemOf(changes, rules) ?? rules
    },
    afterInsert: (id, { ping_id }) =>
      ping_id === undefined
        ? Effect.as(rows.updatePingUrl(urls.make(id)), undefined)
        : Effect.map(rows.insertPingUrl(urls.renew(id, ping_id.toLowerCase())), (isInserted) =>
            isInserted ? undefined : pingIdTaken
          ),
    decideSettings: (row, settings, at) => {
      const rules = { ...row, ...settings }
      return timing.some((field) => rules[field] !== row[field])
        ? decide(row, { type: "rules", before: row }, at, rules)
        : { columns: {}, changes: [], events: [] }
    },
    decidePaused: (row, isPaused, at) => decide(row, { type: isPaused ? "pause" : "resume" }, at),
    show: (row, at) => toHeartbeat(row, urls.open(row.id, row.sealed_ping_id), at),
    showDetails: (details) => ({
      rid: details.rid ?? null,
      exit_status: details.exit_status ?? null,
      duration_ms: details.duration_ms ?? null,
      method: details.method ?? null,
      ip: details.ip ?? null,
      user_agent: details.user_agent ?? null,
      body: details.body ?? null,
      body_dropped: details.body_dropped ?? false
    })
  }
  return kind
})

const pingIdTaken: FieldProblem = {
  path: ["ping_id"],
  code: "invalid",
  problem: "is the ping id of another monitor; give each monitor a UUID of its own"
}

const decide = (
  row: HeartbeatRow,
  signal: HeartbeatSignal,
  at: Date,
  rules: HeartbeatRules = row
): MonitorDecision<HeartbeatColumns> => {
  const { changes, records, state } = decideHeartbeat(
    rules,
    heartbeatState(row),
    signal,
    at.getTime()
  )
  const pingColumns = toPingColumns(rules, state)
  return {
    columns: { ...rules, ...pingColumns, check_at: pingColumns.alert_at },
    changes: toStatusChanges(row, changes),
    events: toHeartbeatEvents(row, records)
  }
}

const timing = [
  "period_seconds",
  "schedule",
  "timezone",
  "grace_seconds",
  "max_duration_seconds",
  "min_interval_seconds"
] as const

/**
 * Returns the changed settings. A period removes the schedule, and a schedule removes the period.
 */
const rulesFrom = (changes: HeartbeatMonitorUpdate): Partial<HeartbeatRules> => ({
  ...changes,
  ...(changes.period_seconds === undefined
    ? {}
    : { schedule: null, timezone: heartbeatDefaults.timezone }),
  ...(changes.schedule === undefined ? {} : { period_seconds: null })
})

const problemOf = (changes: HeartbeatMonitorUpdate, rules: HeartbeatRules) =>
  changes.timezone !== undefined && rules.schedule === null
    ? timezoneWithoutScheduleProblem
    : timingProblem(rules)
