import { PgClient } from "@effect/sql-pg"
import type { SchedulingClient } from "@scheduling/sdk"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"

const dayMs = 24 * 60 * 60_000

/** The number of days of history, which is less than the retention. */
const days = 28

/**
 * Creates daily cron tasks. None is due within the next hour, because a run would disturb the
 * measurement.
 */
export const makeTasks = async (client: SchedulingClient, url: string, count: number) => {
  const hourNow = new Date().getUTCHours()
  for (let at = 0; at < count; at += 100) {
    await client.cron.createMany({
      items: Array.from({ length: Math.min(100, count - at) }, (_, index) => {
        const task = at + index
        const hour = (hourNow + 2 + (Math.floor(task / 60) % 20)) % 24
        return { name: `Task ${task}`, schedule: `${task % 60} ${hour} * * *`, url }
      })
    })
  }
}

/**
 * Inserts executions for a workspace's tasks in turn, evenly spaced and ending a minute ago. Every
 * 51st execution has failed, so that each task has some failures.
 */
export const fillHistory = (url: string, workspaceId: string, count: number): Promise<void> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const until = Date.now() - 60_000
    const from = until - days * dayMs
    yield* sql.unsafe(missingDays)
    const chunk = 50_000
    for (let made = 0; made < count; made += chunk) {
      yield* sql`
        INSERT INTO executions (
          id, workspace_id, task_id, kind, trigger, status, scheduled_for, started_at, finished_at,
          lateness_ms, duration_ms, attempts_count, attempt_started_at, status_code, error
        )
        SELECT
          (left(hex, 8) || '-' || right(hex, 4) || '-7' || right(gen_random_uuid()::text, 21))::uuid,
          ${workspaceId}::uuid, ids[1 + n % cardinality(ids)], 'cron', 'schedule',
          CASE WHEN failed THEN 'failed' ELSE 'succeeded' END,
          due, started_at, started_at + took * interval '1 millisecond',
          4, took, 1, started_at,
          CASE WHEN failed THEN 503 ELSE 200 END,
          CASE WHEN failed THEN 'http_status: responded with 503' END
        FROM (
          SELECT array_agg(id ORDER BY id) AS ids
          FROM tasks
          WHERE workspace_id = ${workspaceId}::uuid AND kind = 'cron'
        ) AS tasks
        CROSS JOIN generate_series(${made + 1}::int, ${Math.min(count, made + chunk)}::int) AS n
        CROSS JOIN LATERAL (
          SELECT
            n % 51 = 0 AS failed,
            20 + n % 300 AS took,
            ${from}::bigint + n * ${until - from}::bigint / ${count}::bigint AS due_ms
        ) AS run
        CROSS JOIN LATERAL (
          SELECT
            to_timestamp(due_ms / 1000.0) AS due,
            to_timestamp((due_ms + 4) / 1000.0) AS started_at,
            lpad(to_hex(due_ms), 12, '0') AS hex
        ) AS moment`
    }
    yield* sql`ANALYZE executions`
    // The node would add the executions to the statistics once a minute, which would disturb the
    // measurement.
    const taken = sql<{ readonly count: number }>`
      SELECT coalesce(sum(succeeded + failed), 0)::float8 AS count
      FROM execution_stats
      WHERE workspace_id = ${workspaceId}::uuid AND task_id IS NULL`
    yield* Effect.repeat(Effect.delay(taken, "1 second"), {
      until: ([row]) => (row?.count ?? 0) >= count
    })
  }).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.runPromise
  )

/**
 * Creates the partitions for past days. The service creates only those for the days around today.
 */
const missingDays = `
  DO $$
  DECLARE
    ms bigint;
    name text;
    bounds text[];
  BEGIN
    FOR ms IN
      SELECT (floor(extract(epoch FROM now()) / 86400) - ago)::bigint * ${dayMs}
      FROM generate_series(0, ${days}) AS ago
    LOOP
      name := 'executions_' || to_char(to_timestamp(ms / 1000) AT TIME ZONE 'UTC', 'YYYYMMDD');
      CONTINUE WHEN to_regclass(name) IS NOT NULL;
      SELECT array_agg(left(hex, 8) || '-' || right(hex, 4) || '-0000-0000-000000000000' ORDER BY hex)
      INTO bounds
      FROM (SELECT lpad(to_hex(edge), 12, '0') AS hex FROM unnest(ARRAY[ms, ms + ${dayMs}]) AS edge) AS edges;
      EXECUTE format('CREATE TABLE %I (LIKE executions INCLUDING ALL)', name);
      EXECUTE format('ALTER TABLE executions ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, bounds[1], bounds[2]);
    END LOOP;
  END
  $$`
