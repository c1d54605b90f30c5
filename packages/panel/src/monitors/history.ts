import type { Incident } from "@scheduling/sdk"

type Span = Pick<Incident, "closed_at" | "opened_at">

export interface DayOfHistory {
  readonly at: number
  /** Whether it was watched on that day at all. */
  readonly isKnown: boolean
  readonly downMs: number
}

const overlap = (incident: Span, from: number, to: number): number => {
  const end = incident.closed_at === null ? to : Math.min(Date.parse(incident.closed_at), to)
  return Math.max(0, end - Math.max(Date.parse(incident.opened_at), from))
}

const downIn = (incidents: ReadonlyArray<Span>, from: number, to: number): number =>
  incidents.reduce((sum, incident) => sum + overlap(incident, from, to), 0)

/** The last days on the reader's calendar, the oldest first. */
export const daysOf = (
  incidents: ReadonlyArray<Span>,
  since: number,
  now: number,
  count: number
): ReadonlyArray<DayOfHistory> =>
  Array.from({ length: count }, (_, index) => {
    const day = new Date(now)
    day.setHours(0, 0, 0, 0)
    day.setDate(day.getDate() - (count - 1 - index))
    const next = new Date(day)
    next.setDate(next.getDate() + 1)
    return {
      at: day.getTime(),
      isKnown: next.getTime() > since,
      downMs: downIn(incidents, day.getTime(), Math.min(next.getTime(), now))
    }
  })

/** How much of the time since then it was up. */
export const upShare = (incidents: ReadonlyArray<Span>, from: number, now: number): number =>
  now <= from ? 1 : 1 - downIn(incidents, from, now) / (now - from)
