/**
 * SQL: the fence. A node that lost a lease writes nothing. A run that nobody holds may have begun to
 * await its completion in the same attempt.
 */
export const isHeld = `(
  runs.workspace_id = input.workspace_id
  AND runs.id = input.id
  AND runs.attempt = input.attempt
  AND runs.lease_owner IS NOT DISTINCT FROM input.lease_owner
  AND (runs.state = 'awaiting') = input.awaited
)`

const deleteRuns = (where: string) => `
  DELETE FROM runs
  USING input
  WHERE ${where}
    AND ${isHeld}
    AND input.status IS NOT NULL
    AND (SELECT count(*) FROM locked) >= 0
  RETURNING
    runs.id, runs.workspace_id, runs.task_id, runs.kind, runs.trigger, runs.lane,
    runs.chain_run_id, runs.step_index, runs.step,
    runs.version_id, runs.after_failure, runs.slot_queue_id, runs.queue_id,
    runs.scheduled_for, runs.attempt, runs.cancel_requested, runs.ordinal,
    CASE
      WHEN runs.attempt > 1 THEN runs.started_at
      -- A run that was marked as running but stopped before its time has never started.
      WHEN input.started THEN coalesce(to_timestamp(input.started_ms / 1000), runs.started_at)
    END AS started_at,
    coalesce(to_timestamp(input.started_ms / 1000), runs.attempt_started_at) AS attempt_started_at,
    CASE WHEN NOT input.lost AND runs.run_on IS NULL THEN runs.lease_owner END AS next_owner,
    input.status, input.started,
    CASE WHEN input.finished_ms IS NOT NULL
      THEN to_timestamp(greatest(input.finished_ms, input.started_ms) / 1000)
    END AS finished_at,
    CASE WHEN input.started THEN input.status_code ELSE runs.status_code END AS status_code,
    input.response_body, input.error,
    input.next_id, input.next_step_index, input.next_step, input.skipped`

/**
 * SQL that takes the runs of `input` that have ended out of the queue. Nearly all rows stand where
 * they stood when their runs started, and finding them there saves walking down an index for each. The
 * fence tells whether it is still the same row. Those that were changed meanwhile are found by their
 * ids.
 */
export const endRuns = `ended_there AS (
  ${deleteRuns("runs.ctid = input.row_at::tid")}
), ended_elsewhere AS (
  ${deleteRuns("input.id NOT IN (SELECT id FROM ended_there)")}
), ended AS (
  SELECT * FROM ended_there
  UNION ALL
  SELECT * FROM ended_elsewhere
)`
