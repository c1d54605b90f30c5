import type { Pool } from "pg"

/**
 * Reads the page of cron tasks that the compared servers return, using the service's own tables and
 * one prepared statement.
 */
export const listCronTasks = async (pool: Pool, workspaceId: string) => {
  const { rows } = await pool.query<CronTaskRow>({
    name: "list_cron_tasks",
    text: listStatement,
    values: [workspaceId, limit + 1, dayBefore(1), dayBefore(-1)]
  })
  const shown = rows.slice(0, limit)
  return {
    data: shown.map(({ last_run_finished_at, last_run_id, last_run_status, options, ...task }) => ({
      ...task,
      ...unsetOptions,
      ...options,
      last_run:
        last_run_id === null
          ? null
          : {
              execution_id: last_run_id,
              status: last_run_status,
              finished_at: last_run_finished_at
            }
    })),
    next_cursor: rows.length > limit ? (shown.at(-1)?.id ?? null) : null,
    total: null
  }
}

/** The values that the API returns for advanced options that are not set. */
const unsetOptions = {
  body_contains: null,
  body_lacks: null,
  completion: null,
  auth: null,
  ends_at: null,
  excluded_calendar: null,
  excluded_days: [],
  jitter_seconds: 0,
  on_failure: null,
  on_pause: "cancel",
  on_success: null,
  pause_after_failures: null,
  precision: "minute",
  retry: null,
  starts_at: null,
  success_codes: null
}

interface CronTaskRow {
  readonly id: string
  /** Advanced options. Null for most tasks. */
  readonly options: object | null
  readonly last_run_id: string | null
  readonly last_run_status: string | null
  readonly last_run_finished_at: Date | null
}

const limit = 50

/**
 * Returns the lowest possible id for an execution that many days ago, so that a statement reads
 * only the history's newest partitions.
 */
const dayBefore = (days: number) => {
  const day = Math.floor(Date.now() / 86_400_000) - days
  const time = (day * 86_400_000).toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

const listStatement = `
  SELECT
    t.id, t.workspace_id, t.key, t.version, t.name, t.tags, t.schedule, t.method, t.url, t.headers, t.body,
    t.timeout_seconds, t.retry_count, t.run_on, t.worker_wait_seconds, t.queue_id,
    t.call_options || t.firing_options AS options, t.timezone, t.overlap, t.missed, t.dst_overlap, t.status,
    t.status = 'paused' AS paused, t.paused_reason,
    (SELECT key FROM queues WHERE queues.id = t.queue_id) AS queue_key,
    t.next_fire_at AS next_run_at, t.created_by, coalesce(t.updated_by, t.created_by) AS updated_by,
    t.created_at, t.updated_at,
    last_run.id AS last_run_id, last_run.status AS last_run_status,
    last_run.finished_at AS last_run_finished_at
  FROM tasks AS t
  LEFT JOIN LATERAL (
    SELECT id, state AS status, NULL::timestamptz AS finished_at
    FROM runs
    WHERE runs.task_id = t.id AND runs.scheduled_for <= now()
    UNION ALL (
      SELECT id, status, finished_at
      FROM executions
      WHERE executions.workspace_id = t.workspace_id
        AND executions.task_id = t.id
        AND executions.id >= $3::uuid
        AND executions.id < $4::uuid
      ORDER BY id DESC
      LIMIT 1
    )
    ORDER BY id DESC
    LIMIT 1
  ) AS last_run ON true
  WHERE t.workspace_id = $1 AND t.kind = 'cron'
  ORDER BY t.id DESC
  LIMIT $2`

export const textSchema = { type: "string" }
export const optionalTextSchema = { type: ["string", "null"] }
const integer = { type: "integer" }
const optionalObject = { type: ["object", "null"], additionalProperties: true }
const texts = { type: "array", items: textSchema }

/** The response schema, which Fastify compiles to a serializer. */
export const cronListSchema = {
  type: "object",
  properties: {
    data: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: textSchema,
          workspace_id: textSchema,
          key: optionalTextSchema,
          version: integer,
          name: textSchema,
          tags: texts,
          schedule: textSchema,
          method: textSchema,
          url: textSchema,
          headers: { type: "object", additionalProperties: textSchema },
          body: optionalTextSchema,
          timeout_seconds: integer,
          retry_count: integer,
          run_on: optionalObject,
          worker_wait_seconds: integer,
          queue_id: optionalTextSchema,
          queue_key: optionalTextSchema,
          body_contains: optionalTextSchema,
          body_lacks: optionalTextSchema,
          completion: optionalObject,
          auth: optionalObject,
          created_by: optionalObject,
          updated_by: optionalObject,
          starts_at: optionalTextSchema,
          ends_at: optionalTextSchema,
          excluded_calendar: optionalObject,
          excluded_days: texts,
          jitter_seconds: integer,
          on_failure: optionalObject,
          on_pause: textSchema,
          on_success: optionalObject,
          pause_after_failures: { type: ["integer", "null"] },
          paused: { type: "boolean" },
          paused_reason: optionalTextSchema,
          precision: textSchema,
          retry: optionalObject,
          success_codes: { type: ["array", "null"], items: textSchema },
          timezone: textSchema,
          overlap: textSchema,
          missed: textSchema,
          dst_overlap: textSchema,
          status: textSchema,
          next_run_at: optionalTextSchema,
          last_run: {
            type: ["object", "null"],
            properties: {
              execution_id: textSchema,
              status: textSchema,
              finished_at: optionalTextSchema
            }
          },
          created_at: textSchema,
          updated_at: textSchema
        }
      }
    },
    next_cursor: optionalTextSchema,
    total: { type: ["integer", "null"] }
  }
}
