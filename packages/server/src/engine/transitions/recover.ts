import { executionError } from "@scheduling/domain/executions/ExecutionError"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { callOfRun } from "../callOfRun.ts"
import { placeColumn } from "../chains/ChainRuns.ts"
import { Signals } from "../../events/index.ts"
import { againAfterCollision } from "../../store/index.ts"
import { holdSlots, lockQueuesOf, type LostSlot, lostSlotColumns } from "../queues/heldSlots.ts"
import { deadNodes } from "../Nodes.ts"
import { type SettledRun, type Settlement, settlementOf } from "../Run.ts"
import { nextTurn } from "../RunState.ts"
import { makeAfterSettled } from "../afterSettled.ts"
import { finish } from "./finish.ts"

/**
 * A run fails after this many lost attempts: if it brings down its node, it must not bring down all
 * of them.
 */
const maxLost = 5

const batch = 500

interface LostRun extends SettledRun, LostSlot {
  readonly lost: number
  readonly lease_owner: number
  readonly on_worker: boolean
}

/**
 * Takes back everything that is leased to the nodes. Runs that had not started go back unchanged.
 * Runs that were running start again with a further attempt, because nobody knows how the lost one
 * ended. Several nodes may do this at once: the fence of `finish` lets each run through once. In a
 * queue, all of them wait for their turn again, and calls that perhaps go on keep their slots, as do
 * those whose jobs perhaps go on after them.
 */
export const recover = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  nodes: "dead" | number,
  calls: "gone" | "perhaps going on"
) {
  const signals = yield* Signals
  const afterSettled = yield* makeAfterSettled
  const owners = nodes === "dead" ? sql.literal(deadNodes) : sql`SELECT ${nodes}::integer`
  const left = yield* sql<{ readonly queue_id: string }>`
    WITH back AS (
      UPDATE runs
      SET
        lease_owner = NULL,
        state = ${sql.literal(nextTurn())},
        slot_queue_id = NULL
      WHERE lease_owner IN (${owners})
        AND state = 'leased'
      RETURNING queue_id
    )
    SELECT DISTINCT queue_id
    FROM back
    WHERE queue_id IS NOT NULL`
  if (left.length > 0) yield* signals.admit(left.map(({ queue_id }) => queue_id))
  let lost = 0
  for (;;) {
    const runs = yield* sql<LostRun>`
      SELECT
        id, workspace_id, task_id, kind, attempt, lost, lease_owner,
        run_on IS NOT NULL AS on_worker, ${sql.literal(placeColumn())},
        ${sql.literal(lostSlotColumns)}
      FROM runs
      ${sql.literal(callOfRun)}
      WHERE lease_owner IN (${owners})
        AND state = 'running'
      LIMIT ${batch}`
    if (runs.length === 0) return lost
    const settlements = runs.map(lostSettlement)
    const inQueues = runs.filter(
      ({ completes_later, on_worker, queue_id }) =>
        queue_id !== null && (completes_later || on_worker || calls === "perhaps going on")
    )
    const held = Effect.gen(function* () {
      yield* lockQueuesOf(sql, inQueues)
      const written = yield* finish(sql, settlements)
      const ids = new Set(written.ids)
      yield* holdSlots(
        sql,
        inQueues.filter(({ id }) => ids.has(id))
      )
      return written
    })
    const settled = yield* againAfterCollision(
      inQueues.length === 0 ? finish(sql, settlements) : sql.withTransaction(held)
    )
    yield* afterSettled(settlements, settled)
    lost += settled.ids.length
  }
})

/** What is written about a run that its node, or its worker, did not end. */
export const lostSettlement = (run: Omit<LostRun, keyof LostSlot>): Settlement => {
  const isPoisonous = run.lost + 1 >= maxLost
  const holder = run.on_worker ? "worker" : "node"
  return settlementOf(run, run.lease_owner, {
    status: isPoisonous ? "failed" : null,
    retry_delay_ms: 0,
    lost: true,
    started: true,
    error: executionError(
      "node_lost",
      `the ${holder} that ran it was lost${isPoisonous ? `, for the ${maxLost}th time` : ""}`
    )
  })
}
