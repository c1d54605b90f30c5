import type { Incident, Monitor, MonitorStatus } from "@scheduling/sdk"

type Span = Pick<Incident, "closed_at" | "opened_at">

export interface DayOfHistory {
  readonly at: number
  /** Whether it was watched on that day, and whether anything says that it was up. */
  readonly known: "not watched" | "no incident" | "watched"
  readonly downMs: number
}

const overlap = (incident: Span, from: number, to: number): number => {
  const end = incident.closed_at === null ? to : Math.min(Date.parse(incident.closed_at), to)
  return Math.max(0, end - Math.max(Date.parse(incident.opened_at), from))
}

const downIn = (incidents: ReadonlyArray<Span>, from: number, to: number): number =>
  incidents.reduce((sum, incident) => sum + overlap(incident, from, to), 0)

/** The oldest of the events that were read. */
export interface OldestEvent {
  readonly at: string | undefined
  /** Whether there is none before it. */
  readonly isFirst: boolean
}

/** The oldest event that tells how the monitor stood. */
export const oldestOf = (
  events: ReadonlyArray<{ readonly at: string; readonly status: MonitorStatus }>,
  isAll: boolean
): OldestEvent => ({
  at: events.findLast(({ status }) => isVerdict(status))?.at,
  isFirst: isAll
})

const isVerdict = (status: MonitorStatus): boolean => status !== "new" && status !== "paused"

export interface Watched {
  /** It may have been watched from then on. */
  readonly since: number
  /** From then on it is known whether it was up. */
  readonly from: number
}

/**
 * When a monitor was first seen up or down. Events go back only so far: before the oldest of them,
 * incidents and the latest change say something. Undefined if it was never seen.
 */
export const watchedBy = (
  { created_at, last_change_at, status }: Pick<Monitor, "created_at" | "last_change_at" | "status">,
  incidents: ReadonlyArray<Span>,
  oldest: OldestEvent
): Watched | undefined => {
  const seen = [
    ...incidents.map(({ opened_at }) => opened_at),
    ...(oldest.at === undefined ? [] : [oldest.at]),
    ...(last_change_at === null || !isVerdict(status) ? [] : [last_change_at])
  ].map((at) => Date.parse(at))
  if (seen.length === 0) return undefined
  const from = Math.min(...seen)
  return { from, since: oldest.isFirst ? from : Date.parse(created_at) }
}

/** The clock of the page ticks rarely, so an incident may have begun after its last tick. */
export const notBefore = (incidents: ReadonlyArray<Span>, now: number): number =>
  Math.max(now, ...incidents.map(({ opened_at }) => Date.parse(opened_at) + 1))

/** The last days on the reader's calendar, the oldest first. */
export const daysOf = (
  incidents: ReadonlyArray<Span>,
  { from, since }: Watched,
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
      known: end > from ? "watched" : end > since ? "no incident" : "not watched",
      downMs: downIn(incidents, day.getTime(), Math.min(end, now))
    }
  })

/** How much of the time since then it was up. */
export const upShare = (incidents: ReadonlyArray<Span>, from: number, now: number): number =>
  now <= from ? 1 : 1 - downIn(incidents, from, now) / (now - from)
