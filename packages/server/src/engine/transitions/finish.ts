import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { announceFinished } from "../../events/index.ts"
import { inSavepoint } from "../../store/index.ts"
import { type FollowUp, findFollowUps } from "../chains/ChainRuns.ts"
import { pauseFailing } from "../pauseFailing.ts"
import type { Settlement } from "../Run.ts"
import { nothingSettled, type Settled } from "../Settled.ts"
import { awaitCompletion } from "./awaitCompletion.ts"
import { input } from "./finish/input.ts"
import { finishDelayedTasks, insertAttempts, insertExecutions } from "./finish/records.ts"
import {
  insertNextSteps,
  lockDelayedTasks,
  releaseSuccessors,
  removeFinished,
  retry
} from "./finish/runs.ts"
import { settledOf, type WrittenRow } from "./finish/settled.ts"

/**
 * Writes how attempts finished.
 *
 * 1. Runs whose targets report later go on to await that, in a statement of their own.
 * 2. The outlines of chains say which steps come next.
 * 3. One statement writes all the rest. Its parts are common table expressions, each built by its own
 *    function: those in `finish/runs.ts` change `runs`, those in `finish/records.ts` other tables.
 * 4. Tasks that have failed too often are paused.
 *
 * The fence (`isHeld`) is in the WHERE: a node that lost a lease writes nothing. After the commit the
 * caller does what follows, `afterSettled`: the settler of a node for its calls (`runner/Settler.ts`),
 * `settleAlone.ts` and `recover.ts` for runs that no node has in its memory, and the callers of
 * `cancel.ts`.
 */
export const finish = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>
) {
  const goingOn = settlements.filter(({ completes_by_ms }) => completes_by_ms !== null)
  const awaiting = goingOn.length === 0 ? [] : yield* awaitCompletion(sql, goingOn)
  const rest =
    goingOn.length === 0
      ? settlements
      : settlements.filter(({ completes_by_ms }) => completes_by_ms === null)
  if (rest.length === 0) return { ...nothingSettled, ids: awaiting }
  const followUps = yield* findFollowUps(sql, rest)
  const rows = yield* write(sql, rest, followUps)
  const paused = yield* pause(sql, rest, followUps, rows)
  const settled = settledOf(rest, followUps, rows, paused)
  const all: Settled = { ...settled, ids: [...awaiting, ...settled.ids] }
  return all
})

const write = (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>,
  followUps: ReadonlyMap<string, FollowUp>
) => sql<WrittenRow>`
    WITH ${input(sql, settlements, followUps)}, ${lockDelayedTasks(sql, settlements)},
      ${removeFinished(sql)}, ${retry(sql)}, ${insertExecutions(sql)}, ${insertAttempts(sql)},
      ${insertNextSteps(sql)}, ${finishDelayedTasks(sql)}, ${releaseSuccessors(sql)},
      ${sql.literal(announceFinished)}
    SELECT
      id, slot_queue_id, queue_id,
      (SELECT count(*) > 0 FROM released) AS released,
      (SELECT count(*) > 0 FROM announced) AS announced
    FROM (
      SELECT id, slot_queue_id, queue_id FROM finished
      UNION ALL
      SELECT id, slot_queue_id, queue_id FROM retried
    ) AS written`

/** The results are written by now, so nothing about this may make the caller write them again. */
const pause = (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>,
  followUps: ReadonlyMap<string, FollowUp>,
  rows: ReadonlyArray<WrittenRow>
) => {
  const written = new Set(rows.map(({ id }) => id))
  const failed = settlements
    .filter((one) => written.has(one.id) && !followUps.get(one.id)?.next && hasFailed(one))
    .map(({ task_id }) => task_id)
  if (failed.length === 0) return Effect.succeed([])
  return inSavepoint(sql)(pauseFailing(sql, failed)).pipe(
    Effect.catch((error) =>
      Effect.as(Effect.logWarning("failing tasks could not be paused", error), [])
    )
  )
}

/** A delayed task has nothing to pause. */
const hasFailed = ({ kind, position, status }: Settlement): boolean =>
  kind !== "delayed" &&
  (status === "failed" || (status === "succeeded" && position?.after_failure === true))
