import { firstIdAt } from "../runner/RunId.ts"

/**
 * An id carries the time its run was due, by the clock of the node that made it: with this much to
 * spare a range of times is a range of ids. Fires that were missed are the exception, as their ids
 * are at most an hour old: their executions are all `late`, and found by an index of their own.
 */
const clockSlackMs = 5 * 60_000

/** Not before this id: what was scheduled at this time or later. */
export const earliestIdAt = (time: Date): string =>
  firstIdAt(Math.max(0, time.getTime() - clockSlackMs))

/** Before this id: what was scheduled before this time, unless it is late. */
export const latestIdAt = (time: Date): string =>
  firstIdAt(Math.max(0, time.getTime() + clockSlackMs))
