/**
 * SQL for how many slots of a row of `queues` with a `max_concurrency` are free. A run holds its
 * slot from its admission until its row changes again: it finishes, waits for another attempt, or
 * moves to another queue. The slots are counted from these rows, so no counter can become wrong.
 */
export const freeSlotsSql = `(
  queues.max_concurrency
    - (SELECT count(*) FROM unnest(queues.held_until) AS held (until) WHERE until > now())
    - (
      SELECT count(*)
      FROM (
        SELECT
        FROM runs
        WHERE runs.slot_queue_id = queues.id
        LIMIT queues.max_concurrency
      ) AS admitted
    )
)`
