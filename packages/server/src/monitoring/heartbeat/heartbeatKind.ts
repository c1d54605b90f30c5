import type { HeartbeatEvent } from "@scheduling/domain/monitors/heartbeat/HeartbeatEvent"
import {
  heartbeatDefaults,
  type HeartbeatMonitorInput,
  type HeartbeatMonitorUpdate,
  timingProblem,
  zoneOfNothing
} from "@scheduling/domain/monitors/heartbeat/HeartbeatMonitor"
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
import { changesOf, eventsOf, type PingDetails } from "./outcome.ts"
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

/** Waits for pings. `Pings` takes them, and `Deadlines` finds out that one is missing. */
export const heartbeatKind = Effect.gen(function* () {
  const rows = yield* HeartbeatsRepo
  const urls = yield* PingUrls
  const kind: MonitorKind<HeartbeatTypes> = {
    table: heartbeatTable,
    rows,
    settingsOf: (input) => ({ ...heartbeatDefaults, ...input }),
    settingsAfter: (row, changes) => {
      const rules = { ...row, ...rulesFrom(changes) }
      return problemOf(changes, rules) ?? rules
    },
    afterInsert: (id) => rows.updatePingUrl(urls.make(id)),
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
  const received = toPingColumns(rules, state)
  return {
    columns: { ...rules, ...received, check_at: received.alert_at },
    changes: changesOf(row, changes),
    events: eventsOf(row, records)
  }
}

/** The fields that decide when a ping is due and which runs are at fault. */
const timing = [
  "period_seconds",
  "schedule",
  "timezone",
  "grace_seconds",
  "max_duration_seconds",
  "min_interval_seconds"
] as const

/** A period replaces a schedule, and the other way round. */
const rulesFrom = (changes: HeartbeatMonitorUpdate): Partial<HeartbeatRules> => ({
  ...changes,
  ...(changes.period_seconds === undefined
    ? {}
    : { schedule: null, timezone: heartbeatDefaults.timezone }),
  ...(changes.schedule === undefined ? {} : { period_seconds: null })
})

const problemOf = (changes: HeartbeatMonitorUpdate, rules: HeartbeatRules) =>
  changes.timezone !== undefined && rules.schedule === null ? zoneOfNothing : timingProblem(rules)
