import type { MonitorEvent } from "../MonitorEventsRepo.ts"
import type { StatusChange } from "../StatusChanges.ts"
import type { HeartbeatChange, HeartbeatRecord } from "./decideHeartbeat.ts"
import type { HeartbeatRow } from "./HeartbeatRow.ts"

/** What is stored about a ping in the heartbeat's history. */
export interface PingDetails {
  readonly rid?: string
  readonly exit_status?: number
  readonly duration_ms?: number
  readonly method?: string
  readonly ip?: string
  readonly user_agent?: string
  readonly body?: string
  /** True if the ping's body was dropped, because its workspace had exceeded its budget. */
  readonly body_dropped?: true
}

type Heartbeat = Pick<HeartbeatRow, "monitor_id" | "workspace_id">

/**
 * Converts the records of a decision to events. If the decision was about a ping, the last record
 * is the ping itself.
 */
export const toHeartbeatEvents = (
  { monitor_id, workspace_id }: Heartbeat,
  records: ReadonlyArray<HeartbeatRecord>,
  ping?: PingDetails
): ReadonlyArray<MonitorEvent<PingDetails>> =>
  records.map(({ at, duration_ms, status, type }, index) => {
    const own = index === records.length - 1 ? ping : undefined
    const details = { ...own, ...(duration_ms === null ? {} : { duration_ms }) }
    return {
      workspace_id,
      monitor_id,
      type,
      status,
      at,
      details: Object.keys(details).length === 0 ? null : details
    }
  })

export const toStatusChanges = (
  { monitor_id, workspace_id }: Heartbeat,
  changes: ReadonlyArray<HeartbeatChange>
): ReadonlyArray<StatusChange> =>
  changes.map((change) => ({ ...change, monitor_id, workspace_id, kind: "heartbeat" }))
