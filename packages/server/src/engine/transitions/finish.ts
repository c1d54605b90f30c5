import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { announceFinished } from "../../events/index.ts"
import { runInSavepoint } from "../../store/index.ts"
import { type FollowUp, findFollowUps } from "../chains/ChainRuns.ts"
import { pauseFailingTasks } from "../pauseFailingTasks.ts"
import type { Settlement } from "../Run.ts"
import { emptySettleResult, type SettleResult } from "../SettleResult.ts"
import { awaitCompletion, type NewlyAwaitingRun } from "./awaitCompletion.ts"
import { inputCte } from "./finish/input.ts"
import { finishDelayedTasks, insertAttempts, insertExecutions } from "./finish/records.ts"
import {
  insertNextSteps,
  lockDelayedTasks,
  releaseSuccessors,
  removeFinished,
  retryRuns
} from "./finish/runs.ts"
import { toSettleResult, type WrittenRow } from "./finish/toSettleResult.ts"

/**
 * Writes the results of attempts:
 *
 * 1. `awaitCompletion`: a separate statement changes runs whose jobs will report later, and steps
 *    that pause.
 * 2. `findFollowUps` reads which steps of chains are next.
 * 3. One statement writes everything else. Each of its common table expressions is built by a
 *    function of its own: those in `finish/runs.ts` change `runs`, those in `finish/records.ts`
 *    other tables.
 * 4. Tasks that have failed too often are paused.
 *
 * The fence (`fenceCondition`) is in the WHERE: a node that has lost a lease writes nothing. After the
 * commit, the caller runs `afterSettled`: the settler of a node for its calls
 * (`runner/Settler.ts`), `settleRuns.ts` and `recover.ts` for runs that are not in the memory of
 * any node, and the callers of `cancel.ts`.
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
  const begun = beganToAwait(awaiting)
  if (rest.length === 0) return begun
  const followUps = yield* findFollowUps(sql, rest)
  const rows = yield* write(sql, rest, followUps)
  const paused = yield* pause(sql, rest, followUps, rows)
  const settled = toSettleResult(rest, followUps, rows, paused)
  const all: SettleResult = {
    ...settled,
    ids: [...begun.ids, ...settled.ids],
    announced: begun.announced || settled.announced,
    queues: [...new Set([...begun.queues, ...settled.queues])],
    slots: [...begun.slots, ...settled.slots]
  }
  return all
})

const beganToAwait = (runs: ReadonlyArray<NewlyAwaitingRun>): SettleResult => {
  const slots = runs.flatMap(({ id, slot_queue_id }) =>
    slot_queue_id === null ? [] : [{ id, queue_id: slot_queue_id }]
  )
  return {
    ...emptySettleResult,
    ids: runs.map(({ id }) => id),
    announced: runs.some(({ is_announced }) => is_announced),
    queues: [...new Set(slots.map(({ queue_id }) => queue_id))],
    slots
  }
}

const write = (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>,
  followUps: ReadonlyMap<string, FollowUp>
) => sql<WrittenRow>`
    WITH ${inputCte(sql, settlements, followUps)}, ${lockDelayedTasks(sql, settlements)},
      ${removeFinished(sql)}, ${retryRuns(sql, settlements)}, ${insertExecutions(sql)}, ${insertAttempts(sql)},
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

/**
 * Pauses tasks that failed too often. The results are already written, so a failure here must not
 * make the caller write them again.
 */
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
  return runInSavepoint(sql)(pauseFailingTasks(sql, failed)).pipe(
    Effect.catchCause((cause) =>
      Effect.as(Effect.logWarning("failing tasks could not be paused", cause), [])
    )
  )
}

/**
 * Returns whether the settlement is a failure that counts for a pause. Delayed tasks are left out,
 * because they run only once.
 */
const hasFailed = ({ kind, position, status }: Settlement): boolean =>
  kind !== "delayed" &&
  (status === "failed" || (status === "succeeded" && position?.after_failure === true))
