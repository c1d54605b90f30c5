import type { HeartbeatEvent } from "@scheduling/sdk"

/** An event, or several missed pings without an event between them. */
export interface PingRow extends HeartbeatEvent {
  readonly missed?: {
    readonly count: number
    /** When the first of these pings was due. `at` is when the last one was. */
    readonly from: string
  }
}

/** Joins consecutive missed pings. The events are sorted, newest first. */
export const groupMissedPings = (events: ReadonlyArray<PingRow>): ReadonlyArray<PingRow> => {
  const rows: Array<PingRow> = []
  for (const event of events) {
    const last = rows.at(-1)
    if (event.type !== "missed" || last?.type !== "missed") {
      rows.push(event)
      continue
    }
    // The oldest event's id does not change when a newer ping is missed.
    const missed = { count: (last.missed?.count ?? 1) + 1, from: event.at }
    rows[rows.length - 1] = { ...last, id: event.id, missed }
  }
  return rows
}
