import { randomInt, randomUUID } from "node:crypto"
import { query } from "../support/database.ts"
import { startService } from "../support/processes.ts"
import {
  dueAt,
  dueValues,
  type Engine,
  type EngineOptions,
  fill,
  isDone,
  readHistory,
  type Work
} from "./engine.ts"

const history = "executions WHERE status = 'succeeded'"

/** This service. Its tasks are cron tasks, as if they had been created over its API. */
export const startServiceEngine = async ({
  body,
  database,
  env,
  sinkUrl
}: EngineOptions): Promise<Engine> => {
  const server = await startService({ DATABASE_URL: database, LOG_LEVEL: "warn", ...env })
  const target = { body, sinkUrl, workspaceId: await register(server.url) }
  return {
    pid: server.pid,
    schedule: (work) =>
      fill(database, "tasks", (client) =>
        client.query(insertTasks(target, dueAt), dueValues(work))
      ),
    enqueue: (count) =>
      fill(database, "tasks, runs", (client) =>
        client.query(
          `WITH made AS (${insertTasks(target, "NULL")} RETURNING id, workspace_id) ${insertRuns}`,
          [count]
        )
      ),
    isDone: (calls) => isDone(database, "runs", history, calls),
    history: () => readHistory(database, history),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]()
  }
}

const register = async (url: string): Promise<string> => {
  const response = await fetch(`${url}/v1/auth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: "bench@example.com", password: "correct horse battery staple" })
  })
  const { workspace } = (await response.json()) as { readonly workspace: { readonly id: string } }
  return workspace.id
}

/**
 * Inserts `$1` cron tasks. They are scheduled for New Year, so that each fires only once per
 * measurement.
 */
const insertTasks = (
  target: { readonly workspaceId: string; readonly sinkUrl: string; readonly body: string },
  nextFireAt: string
) => `
  INSERT INTO tasks (
    id, workspace_id, kind, name, status, method, url, headers, body, timeout_seconds,
    retry_count, schedule, timezone, overlap, missed, dst_overlap, next_fire_at,
    created_at, updated_at
  )
  SELECT
    gen_random_uuid(), '${target.workspaceId}', 'cron', 'Report ' || n, 'active', 'POST',
    '${target.sinkUrl}', '{}', '${target.body}', 30,
    0, '0 0 1 1 *', 'UTC', 'skip', 'once', 'first', ${nextFireAt},
    now(), now()
  FROM generate_series(1, $1::int) AS n`

/** Their ids are UUIDs v7 made from the time at which they are due. */
const insertRuns = `
  INSERT INTO runs (id, workspace_id, task_id, kind, trigger, scheduled_for, due_at)
  SELECT
    (
      lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint), 12, '0')
      || '7' || substr(md5(random()::text), 1, 3)
      || '8' || substr(md5(random()::text), 1, 15)
    )::uuid,
    workspace_id, id, 'cron', 'manual', now(), now()
  FROM made`

/** Reschedules existing tasks from all over the table. */
export const rescheduleSome = (database: string, work: Work) =>
  query(
    database,
    `UPDATE tasks
     SET next_fire_at = ${dueAt}
     FROM (
       SELECT id, row_number() OVER () AS n
       FROM (SELECT id FROM tasks WHERE id > $4 ORDER BY id LIMIT $1) AS chosen
     ) AS numbered
     WHERE tasks.id = numbered.id`,
    [...dueValues(work), `${randomInt(8)}${randomUUID().slice(1)}`]
  )
