import type { Incident, Monitor, MonitorStatus } from "@scheduling/sdk"

type Span = Pick<Incident, "closed_at" | "opened_at">

export interface DayOfHistory {
  readonly at: number
  /** `no incident` means that the monitor existed, but no event or incident proves it was up. */
  readonly known: "not monitored" | "no incident" | "watched"
  readonly downMs: number
}

const overlap = (incident: Span, from: number, to: number): number => {
  const end = incident.closed_at === null ? to : Math.min(Date.parse(incident.closed_at), to)
  return Math.max(0, end - Math.max(Date.parse(incident.opened_at), from))
}

const downIn = (incidents: ReadonlyArray<Span>, from: number, to: number): number =>
  incidents.reduce((sum, incident) => sum + overlap(incident, from, to), 0)

/** When the oldest known result was, and whether it was the first of the monitor. */
export interface OldestResult {
  readonly at: string | undefined
  readonly isFirst: boolean
}

/**
 * Returns the oldest event that reports whether the monitor was up or down. `isComplete` says that
 * the events include the first one.
 */
export const oldestResultOf = (
  events: ReadonlyArray<{ readonly at: string; readonly status: MonitorStatus }>,
  isComplete: boolean
): OldestResult => ({
  at: events.findLast(({ status }) => isResult(status))?.at,
  isFirst: isComplete
})

const isResult = (status: MonitorStatus): boolean => status !== "new" && status !== "paused"

export interface MonitoringStart {
  readonly since: number
  /** The time from which the monitor's status is known. */
  readonly from: number
}

/**
 * Returns when monitoring began (`since`) and the earliest time at which the status is known
 * (`from`). Returns undefined if the monitor was never up or down. Because old events are deleted,
 * incidents and the latest status change are considered too.
 */
export const monitoringStartOf = (
  { created_at, last_change_at, status }: Pick<Monitor, "created_at" | "last_change_at" | "status">,
  incidents: ReadonlyArray<Span>,
  oldest: OldestResult
): MonitoringStart | undefined => {
  const seen = [
    ...incidents.map(({ opened_at }) => opened_at),
    ...(oldest.at === undefined ? [] : [oldest.at]),
    ...(last_change_at === null || !isResult(status) ? [] : [last_change_at])
  ].map((at) => Date.parse(at))
  if (seen.length === 0) return undefined
  const from = Math.min(...seen)
  return { from, since: oldest.isFirst ? from : Date.parse(created_at) }
}

/**
 * Returns `now`, or the latest incident's start if that is later. The page's clock advances in
 * steps, so it can lag behind.
 */
export const latestOfNowAndIncidents = (incidents: ReadonlyArray<Span>, now: number): number =>
  Math.max(now, ...incidents.map(({ opened_at }) => Date.parse(opened_at) + 1))

/** Returns the history of the last `count` days in the user's time zone, oldest first. */
export const dailyHistory = (
  incidents: ReadonlyArray<Span>,
  { from, since }: MonitoringStart,
  now: number,
  count: number
): ReadonlyArray<DayOfHistory> =>
  Array.from({ length: count }, (_, index) => {
    const day = new Date(now)
    day.setHours(0, 0, 0, 0)
    day.setDate(day.getDate() - (count - 1 - index))
    const next = new Date(day)
    next.setDate(next.getDate() + 1)
    const end = next.getTime()
    return {
      at: day.getTime(),
      known: end > from ? "watched" : end > since ? "no incident" : "not monitored",
      downMs: downIn(incidents, day.getTime(), Math.min(end, now))
    }
  })

/** Returns the monitor's uptime since `from` as a fraction. */
export const uptimeFraction = (incidents: ReadonlyArray<Span>, from: number, now: number): number =>
  now <= from ? 1 : 1 - downIn(incidents, from, now) / (now - from)
