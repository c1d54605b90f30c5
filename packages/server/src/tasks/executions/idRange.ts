import { firstIdAt } from "../../engine/index.ts"

/**
 * An id contains the time at which its run was due, by the clock of the node that created it. With
 * this tolerance, a range of times is a range of ids. There are two exceptions: missed firings,
 * whose ids are at most an hour old, and nodes whose clocks differ by more. Their executions are
 * marked as `stray` and have an index of their own. The column `stray` is computed with this value,
 * so a change needs a migration.
 */
const clockSlackMs = 5 * 60_000

/** The lowest id of executions that were scheduled at this time or later, except stray ones. */
export const earliestIdAt = (time: Date): string =>
  firstIdAt(Math.max(0, time.getTime() - clockSlackMs))

/** All executions that were scheduled before this time have a lower id, except stray ones. */
export const latestIdAt = (time: Date): string =>
  firstIdAt(Math.max(0, time.getTime() + clockSlackMs))
