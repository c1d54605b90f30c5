import { randomBytes } from "node:crypto"
import { label, newWorkers, startAgent } from "../support/agents.ts"
import { query } from "../support/database.ts"
import { newWorkspaces } from "../support/population.ts"
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

/** Starts this service as an engine. Its cron tasks are inserted as its API would insert them. */
export const startServiceEngine = (options: EngineOptions): Promise<Engine> =>
  startEngine(options, async (url) => {
    const { id: workspaceId } = await newWorkspace(url)
    return { workspaceId, runOn: "NULL", headers: "{}" }
  })

/** Starts this service with tasks that have a secret in a header of each call. */
export const startServiceWithSecret = (options: EngineOptions): Promise<Engine> =>
  startEngine(options, async (url) => {
    const { accessToken, id: workspaceId } = await newWorkspace(url)
    const allowed_hosts = [new URL(options.sinkUrl).origin]
    const response = await fetch(`${url}/v1/workspaces/${workspaceId}/secrets/API_TOKEN`, {
      method: "PUT",
      headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
      body: JSON.stringify({ value: randomBytes(24).toString("base64url"), allowed_hosts })
    })
    if (!response.ok) throw new Error(`the secret was not stored: ${await response.text()}`)
    const headers = { authorization: "Bearer {{ secrets.API_TOKEN }}" }
    return { workspaceId, runOn: "NULL", headers: JSON.stringify(headers) }
  })

/** Starts this service with worker agents that make the calls. */
export const startWorkersEngine =
  (agents: number, slots: number) =>
  (options: EngineOptions): Promise<Engine> =>
    startEngine(options, async (url, stack) => {
      const { tokens, workspaceId } = await newWorkers(url, agents)
      for (const token of tokens) stack.use(await startAgent(url, token, slots))
      return { workspaceId, runOn: `'${JSON.stringify({ labels: [label] })}'`, headers: "{}" }
    })

/** The workspace of the tasks, SQL for `run_on`, and the headers of the calls as JSON. */
interface Place {
  readonly workspaceId: string
  readonly runOn: string
  readonly headers: string
}

const startEngine = async (
  { body, database, env, sinkUrl }: EngineOptions,
  begin: (url: string, stack: AsyncDisposableStack) => Promise<Place>
): Promise<Engine> => {
  await using starting = new AsyncDisposableStack()
  const settings = { DATABASE_URL: database, LOG_LEVEL: "warn", ...env }
  const server = starting.use(await startService(settings))
  const target = { body, sinkUrl, ...(await begin(server.url, starting)) }
  const stack = starting.move()
  return {
    pid: server.pid,
    schedule: (work) =>
      fill(database, "tasks", (client) =>
        client.query(insertTasks(target, dueAt), dueValues(work))
      ),
    enqueue: (count) =>
      fill(database, "tasks, runs", (client) =>
        client.query(
          `WITH made AS (${insertTasks(target, "NULL")} RETURNING id, workspace_id, run_on) ${insertRuns}`,
          [count]
        )
      ),
    isDone: (calls) => isDone(database, "runs", history, calls),
    history: () => readHistory(database, history),
    [Symbol.asyncDispose]: () => stack.disposeAsync()
  }
}

const newWorkspace = async (url: string) => {
  const [workspace] = await newWorkspaces(url, 1)
  if (workspace === undefined) throw new Error("there is no workspace")
  return workspace
}

const nowMs = "(extract(epoch FROM now()) * 1000)::bigint"

/** Returns SQL for an id like the service's own: a UUID v7 with this timestamp. */
const idAt = (ms: string) => `(
    lpad(to_hex(${ms}), 12, '0')
    || '7' || substr(md5(random()::text), 1, 3)
    || '8' || substr(md5(random()::text), 1, 15)
  )::uuid`

const msOf = (id: string) => `extract(epoch FROM time_of_id(${id})) * 1000`

/**
 * Inserts `$1` cron tasks, as if one had been created every millisecond until now. Their schedule
 * is New Year, so that each task fires only once per measurement.
 */
const insertTasks = (
  target: Place & { readonly sinkUrl: string; readonly body: string },
  nextFireAt: string
) => `
  INSERT INTO tasks (
    id, workspace_id, kind, name, status, method, url, headers, body, timeout_seconds,
    retry_count, schedule, timezone, overlap, missed, dst_overlap, next_fire_at,
    run_on, created_at, updated_at
  )
  SELECT
    ${idAt(`${nowMs} - $1::int + n`)}, '${target.workspaceId}', 'cron', 'Report ' || n, 'active', 'POST',
    '${target.sinkUrl}', '${target.headers}', '${target.body}', 30,
    0, '0 0 1 1 *', 'UTC', 'skip', 'once', 'first', ${nextFireAt},
    ${target.runOn}, now(), now()
  FROM generate_series(1, $1::int) AS n`

/** Inserts runs whose ids contain their due time. */
const insertRuns = `
  INSERT INTO runs (
    id, workspace_id, task_id, kind, trigger, scheduled_for, due_at, run_on, worker_wait_seconds
  )
  SELECT
    ${idAt(nowMs)}, workspace_id, id, 'cron', 'manual', now(), now(), run_on,
    CASE WHEN run_on IS NOT NULL THEN 300 END
  FROM made`

/** Reschedules existing tasks spread over the whole table, different ones each time. */
export const rescheduleSome = (database: string, work: Work) =>
  query(
    database,
    `WITH ends AS (
       SELECT
         (SELECT ${msOf("id")} FROM tasks ORDER BY id LIMIT 1) AS oldest,
         (SELECT ${msOf("id")} FROM tasks ORDER BY id DESC LIMIT 1) AS newest,
         0.25 + random() / 2 AS shift
     ), places AS (
       SELECT n, ${idAt("(oldest + (newest - oldest) * (n - shift) / $1::int)::bigint")} AS place
       FROM ends, generate_series(1, $1::int) AS n
     )
     UPDATE tasks
     SET next_fire_at = ${dueAt}
     FROM (
       SELECT n, (SELECT id FROM tasks WHERE id > place ORDER BY id LIMIT 1) AS id
       FROM places
     ) AS chosen
     WHERE tasks.id = chosen.id`,
    dueValues(work)
  )
