import { executionError } from "@scheduling/domain/executions/ExecutionError"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { joinCallOfRun } from "../joinCallOfRun.ts"
import { positionColumn } from "../chains/ChainRuns.ts"
import { Signals } from "../../events/index.ts"
import { retryAfterDeadlock } from "../../store/index.ts"
import {
  holdSlots,
  lockQueuesOfHeldSlots,
  type LostSlot,
  lostSlotColumns
} from "../queues/heldSlots.ts"
import { deadNodeIds } from "../Nodes.ts"
import { type SettleableRun, type Settlement, makeSettlement } from "../Run.ts"
import { dueTimeWithoutSlot, waitingState } from "../RunState.ts"
import { makeAfterSettled } from "../afterSettled.ts"
import { finish } from "./finish.ts"

/**
 * The number of lost attempts after which a run fails. The limit prevents a run that crashes its
 * node from crashing all nodes.
 */
const maxLost = 5

const batch = 500

interface LostRun extends SettleableRun, LostSlot {
  readonly lost: number
  readonly lease_owner: number
  readonly on_worker: boolean
}

/**
 * Recovers the runs that are leased to dead nodes and agents, or to the given one.
 *
 * 1. `takeBackLeased`: runs that had not started are returned unchanged. Runs of a queue wait for
 *    their turn again (`signals.admit`).
 * 2. `findRunning` finds a batch of runs that were running.
 * 3. `settleLost` gives these runs another attempt, because the result of the lost one is unknown.
 *    A run that has lost `maxLost` attempts fails. Calls that may still be in progress keep their slots, and so do calls whose jobs may still be
 *    in progress.
 * 4. `afterSettled` sends notifications, and the next batch follows until none is left.
 *
 * Several nodes can do this at the same time: the fence of `finish` settles each run only once.
 * Returns the number of lost attempts.
 */
export const recover = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  nodes: "dead" | number,
  calls: "gone" | "perhaps going on"
) {
  const signals = yield* Signals
  const afterSettled = yield* makeAfterSettled
  const owners = nodes === "dead" ? sql.literal(deadNodeIds) : sql`SELECT ${nodes}::integer`
  const left = yield* takeBackLeased(sql, owners)
  if (left.length > 0) yield* signals.admit(left.map(({ queue_id }) => queue_id))
  let lost = 0
  for (;;) {
    const runs = yield* findRunning(sql, owners)
    if (runs.length === 0) return lost
    const settlements = runs.map(settlementOfLostRun)
    const keepSlots = runs.filter(
      ({ completes_later, on_worker, queue_id }) =>
        queue_id !== null && (completes_later || on_worker || calls === "perhaps going on")
    )
    const settled = yield* settleLost(sql, settlements, keepSlots)
    yield* afterSettled(settlements, settled)
    lost += settled.ids.length
  }
})

/**
 * Takes back runs that had not started. Returns the queues whose runs must wait for their turn
 * again.
 */
const takeBackLeased = (sql: SqlClient.SqlClient, owners: Statement.Fragment) =>
  sql<{ readonly queue_id: string }>`
    WITH back AS (
      UPDATE runs
      SET
        lease_owner = NULL,
        state = ${sql.literal(waitingState())},
        slot_queue_id = NULL,
        due_at = ${sql.literal(dueTimeWithoutSlot())}
      WHERE lease_owner IN (${owners})
        AND state = 'leased'
      RETURNING queue_id
    )
    SELECT DISTINCT queue_id
    FROM back
    WHERE queue_id IS NOT NULL`

const findRunning = (sql: SqlClient.SqlClient, owners: Statement.Fragment) =>
  sql<LostRun>`
    SELECT
      id, workspace_id, task_id, kind, attempt, lost, lease_owner,
      run_on IS NOT NULL AS on_worker, ${sql.literal(positionColumn())},
      ${sql.literal(lostSlotColumns)}
    FROM runs
    ${sql.literal(joinCallOfRun)}
    WHERE lease_owner IN (${owners})
      AND state = 'running'
    LIMIT ${batch}`

/** Writes the lost attempts. The same transaction holds the slots of the runs in `keepSlots`. */
const settleLost = (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>,
  keepSlots: ReadonlyArray<LostRun>
) => {
  if (keepSlots.length === 0) return retryAfterDeadlock(finish(sql, settlements))
  const finishAndHold = Effect.gen(function* () {
    yield* lockQueuesOfHeldSlots(sql, keepSlots)
    const settled = yield* finish(sql, settlements)
    const ids = new Set(settled.ids)
    yield* holdSlots(
      sql,
      keepSlots.filter(({ id }) => ids.has(id))
    )
    return settled
  })
  return retryAfterDeadlock(sql.withTransaction(finishAndHold))
}

/** The settlement of a run whose node or worker was lost. */
export const settlementOfLostRun = (run: Omit<LostRun, keyof LostSlot>): Settlement => {
  const isPoisonous = run.lost + 1 >= maxLost
  const holder = run.on_worker ? "worker" : "node"
  return makeSettlement(run, run.lease_owner, {
    status: isPoisonous ? "failed" : null,
    retry_delay_ms: 0,
    lost: true,
    started: true,
    error: executionError(
      "node_lost",
      `the ${holder} was lost during the call${isPoisonous ? `, for the ${maxLost}th time` : ""}`
    )
  })
}
