import { maxWatchedProcesses } from "@scheduling/domain/workers/WorkerProtocol"

/**
 * SQL that lists the processes that a worker's agent should watch. `worker` is a table or alias.
 */
export const watchedProcessesSql = (worker: string) => `
  ARRAY (
    SELECT json_build_object(
      'monitor_id', p.monitor_id,
      'match', p.match,
      'interval_seconds', p.interval_seconds
    )
    FROM (
      SELECT *
      FROM process_monitors
      WHERE worker_id = ${worker}.id
      UNION ALL
      SELECT *
      FROM process_monitors
      WHERE workspace_id = ${worker}.workspace_id
        AND labels IS NOT NULL
        AND labels <@ ${worker}.labels
    ) AS p
    JOIN monitors AS m ON m.id = p.monitor_id
    WHERE m.status <> 'paused'
    ORDER BY p.monitor_id
    LIMIT ${maxWatchedProcesses}
  )`

/**
 * SQL that hashes the list of processes. The agent sends the hash of its list, so that the service
 * can compare them.
 */
export const watchedProcessesHashSql = (watch: string) =>
  `CASE WHEN cardinality(${watch}) = 0 THEN '' ELSE md5(${watch}::text) END`

/** SQL for whether a worker has probes that its agent has not received yet. */
export const hasProbesSql = (workerId: string) => `
  EXISTS (
    SELECT
    FROM monitor_places AS p
    WHERE p.worker_id = ${workerId}
      AND p.is_open
      AND NOT p.is_given
  )`
