const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

export const timelinePastMs = 30 * dayMs
export const timelineFutureMs = 7 * dayMs
const shortestMs = 2 * minuteMs

/** The shown period, in milliseconds. */
export interface View {
  readonly from: number
  readonly to: number
}

export const viewLengthMs = ({ from, to }: View): number => to - from

/** Limits a view to the period covered by the timeline, and to a minimum length. */
export const clampView = ({ from, to }: View, now: number): View => {
  const [first, last] = [now - timelinePastMs, now + timelineFutureMs]
  const span = Math.min(Math.max(to - from, shortestMs), last - first)
  const start = Math.min(Math.max(from, first), last - span)
  return { from: start, to: start + span }
}

/** Moves the view by a fraction of its length. */
export const panBy = (view: View, fraction: number, now: number): View => {
  const move = viewLengthMs(view) * fraction
  return clampView({ from: view.from + move, to: view.to + move }, now)
}

/** Zooms the view by the factor. The time `at` stays where it is on the screen. */
export const zoomBy = (view: View, factor: number, at: number, now: number): View =>
  clampView({ from: at - (at - view.from) * factor, to: at + (view.to - at) * factor }, now)

/**
 * Returns a view of the given length around now. A third of it is in the future, but at most
 * `timelineFutureMs`.
 */
export const viewOfSpan = (span: number, now: number): View => {
  const ahead = Math.min(span / 3, timelineFutureMs)
  return clampView({ from: now + ahead - span, to: now + ahead }, now)
}

/**
 * Returns the period to fetch: the view with a margin on both sides. The period is rounded, so that
 * panning rarely changes it and can reuse cached periods.
 */
export const fetchedPeriod = (view: View, now: number): View => {
  const grid = 2 ** Math.floor(Math.log2(viewLengthMs(view) / 4))
  const from = Math.floor((view.from - grid) / grid) * grid
  const to = Math.ceil((view.to + grid) / grid) * grid
  const [first, last] = [now - timelinePastMs, now + timelineFutureMs].map(
    (at) => Math.floor(at / minuteMs) * minuteMs
  )
  return { from: Math.max(from, first ?? from), to: Math.min(to, last ?? to) }
}

const steps = [
  [10_000, "second"],
  [30_000, "second"],
  [minuteMs, "minute"],
  [5 * minuteMs, "minute"],
  [15 * minuteMs, "minute"],
  [30 * minuteMs, "minute"],
  [60 * minuteMs, "minute"],
  [3 * 60 * minuteMs, "minute"],
  [6 * 60 * minuteMs, "minute"],
  [12 * 60 * minuteMs, "minute"],
  [dayMs, "day"],
  [2 * dayMs, "day"],
  [7 * dayMs, "day"]
] as const

/** Returns the times of the axis ticks in the user's time zone, at least `apartPx` pixels apart. */
export const ticksOf = (view: View, width: number, apartPx = 90) => {
  const least = (viewLengthMs(view) / Math.max(1, width)) * apartPx
  const [step, unit] = steps.find(([length]) => length >= least) ?? [7 * dayMs, "day" as const]
  const offset = new Date(view.from).getTimezoneOffset() * minuteMs
  const first = Math.ceil((view.from - offset) / step) * step + offset
  const count = Math.max(0, Math.ceil((view.to - first) / step))
  return { unit, ticks: Array.from({ length: count }, (_, index) => first + index * step) }
}
