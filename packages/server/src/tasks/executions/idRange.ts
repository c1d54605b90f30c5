import { firstIdAt } from "../../engine/index.ts"

/**
 * The tolerance for the time in an id. An id contains the time at which its run was due, by the
 * clock of the node that created the id. With this tolerance, a range of times is a range of ids.
 * There are two exceptions: missed firings, whose ids are at most an hour old, and nodes whose
 * clocks are wrong by more than this. Their executions are marked as `stray` and have a separate
 * index. The column `stray` is computed with this value, so a change of it needs a migration.
 */
const clockSlackMs = 5 * 60_000

/** The lowest id of executions that were scheduled at this time or later, except stray ones. */
export const earliestIdAt = (time: Date): string =>
  firstIdAt(Math.max(0, time.getTime() - clockSlackMs))

/**
 * Returns an id that is higher than the ids of all executions that were scheduled before this time,
 * except stray ones.
 */
export const latestIdAt = (time: Date): string =>
  firstIdAt(Math.max(0, time.getTime() + clockSlackMs))
