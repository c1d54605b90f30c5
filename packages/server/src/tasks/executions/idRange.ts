import { firstIdAt } from "../../engine/index.ts"

/**
 * An id carries the time at which its run was due, by the clock of the node that made it. With this
 * much to spare, a range of times is a range of ids. There are two exceptions: fires that were
 * missed, because their ids are at most an hour old, and nodes whose clocks are further off. Their
 * executions are all `stray` and are found through an index of their own. The column is made with
 * this, so a change needs a migration.
 */
const clockSlackMs = 5 * 60_000

/**
 * Executions that were scheduled at this time or later have this id or a later one, unless they are
 * stray.
 */
export const earliestIdAt = (time: Date): string =>
  firstIdAt(Math.max(0, time.getTime() - clockSlackMs))

/** Executions that were scheduled before this time have an earlier id, unless they are stray. */
export const latestIdAt = (time: Date): string =>
  firstIdAt(Math.max(0, time.getTime() + clockSlackMs))
