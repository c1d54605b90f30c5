import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * How long a call may continue after its timeout, because its node was frozen between the start and
 * the call.
 */
const slackSeconds = 10

/** The timeout that is assumed for calls of a deleted task, whose real timeout is unknown. */
const longestCallSeconds = 900

/** The maximum time that a slot is held for a lost call. */
export const maxSlotHoldSeconds = slackSeconds + longestCallSeconds

/**
 * SQL columns for a row of `runs`, joined with its `call`: the latest time at which its call ends,
 * even if its node or agent is unreachable (null if the run has no queue), and whether its job may
 * continue until its completion.
 */
export const lostSlotColumns = `
  runs.queue_id,
  CASE WHEN runs.queue_id IS NOT NULL THEN date_part('epoch', runs.attempt_started_at) * 1000
    + 1000 * (${slackSeconds} + coalesce(call.timeout_seconds, ${longestCallSeconds}))
  END AS call_ends_ms,
  coalesce(call.call_options ? 'completion', false) AS completes_later`

export interface LostSlot {
  readonly queue_id: string | null
  readonly call_ends_ms: number | null
  readonly completes_later: boolean
}

export const lockQueuesOfHeldSlots = (sql: SqlClient.SqlClient, lost: ReadonlyArray<LostSlot>) =>
  sql`
    SELECT id
    FROM queues
    WHERE id = ANY (${lost.map(({ queue_id }) => queue_id)}::uuid[])
    ORDER BY id
    FOR NO KEY UPDATE`

/**
 * Holds the slots of lost calls for as long as the calls may continue. A node that was declared
 * dead may still be running and only be disconnected from the database. The rows of the queues must
 * be locked.
 */
export const holdSlots = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  lost: ReadonlyArray<LostSlot>
) {
  if (lost.length === 0) return
  yield* sql`
    UPDATE queues
    SET held_until = ARRAY (
      SELECT until
      FROM unnest(queues.held_until || slots.until) AS until
      WHERE until > now()
    )
    FROM (
      SELECT queue_id, array_agg(to_timestamp(ends_ms / 1000)) AS until
      FROM unnest(
        ${lost.map(({ queue_id }) => queue_id)}::uuid[],
        ${lost.map(({ call_ends_ms }) => call_ends_ms)}::float8[]
      ) AS lost (queue_id, ends_ms)
      WHERE ends_ms IS NOT NULL
      GROUP BY queue_id
    ) AS slots
    WHERE queues.id = slots.queue_id`
})
