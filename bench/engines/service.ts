import { randomBytes } from "node:crypto"
import { workerLabel, newWorkers, startAgent } from "../support/agents.ts"
import { query } from "../support/database.ts"
import { newWorkspaces } from "../support/population.ts"
import { startService } from "../support/processes.ts"
import {
  dueAt,
  dueValues,
  type Engine,
  type EngineOptions,
  insertAndAnalyze,
  isDone,
  readHistory,
  type ScheduledCalls
} from "./engine.ts"

const history = "executions WHERE status = 'succeeded'"

/**
 * Starts this service as an engine. Cron tasks are inserted into its database as its API would
 * insert them.
 */
export const startServiceEngine = (options: EngineOptions): Promise<Engine> =>
  startEngine(options, async (url) => {
    const { id: workspaceId } = await newWorkspace(url)
    return { workspaceId, runOn: "NULL", headers: "{}" }
  })

/** Starts this service with tasks whose calls send a secret in a header. */
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

/**
 * Starts this service with tasks whose runs are limited per key. The key contains the run's id, so
 * that every run has a different key.
 */
export const startServiceWithFlow = (options: EngineOptions): Promise<Engine> =>
  startEngine(options, async (url) => {
    const { id: workspaceId } = await newWorkspace(url)
    const flow = JSON.stringify({ key: "run:{{ run.id }}", max_concurrency: 1, fifo: false })
    return { workspaceId, runOn: "NULL", headers: "{}", flow: `'${flow}'` }
  })

/** Starts this service with worker agents that make the calls. */
export const startWorkersEngine =
  (agents: number, slots: number) =>
  (options: EngineOptions): Promise<Engine> =>
    startEngine(options, async (url, stack) => {
      const { tokens, workspaceId } = await newWorkers(url, agents)
      for (const token of tokens) stack.use(await startAgent(url, token, slots))
      return { workspaceId, runOn: `'${JSON.stringify({ labels: [workerLabel] })}'`, headers: "{}" }
    })

/** The tasks' workspace, SQL for `run_on` and `flow`, and the calls' headers as JSON. */
interface TaskSettings {
  readonly workspaceId: string
  readonly runOn: string
  readonly headers: string
  readonly flow?: string
}

const startEngine = async (
  { body, database, env, sinkUrl }: EngineOptions,
  begin: (url: string, stack: AsyncDisposableStack) => Promise<TaskSettings>
): Promise<Engine> => {
  await using starting = new AsyncDisposableStack()
  const settings = { DATABASE_URL: database, LOG_LEVEL: "warn", ...env }
  const server = starting.use(await startService(settings))
  const target = { body, sinkUrl, ...(await begin(server.url, starting)) }
  const stack = starting.move()
  return {
    pid: server.pid,
    schedule: (work) =>
      insertAndAnalyze(database, "tasks", (client) =>
        client.query(insertTasks(target, dueAt), dueValues(work))
      ),
    enqueue: (count) =>
      insertAndAnalyze(database, "tasks, runs", (client) =>
        client.query(
          `WITH made AS (${insertTasks(target, "NULL")} RETURNING *), inserted AS (${insertRuns}) ${announceRuns}`,
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

/** Returns SQL for an id in the service's format, a UUID v7, with this timestamp. */
const idAt = (ms: string) => `(
    lpad(to_hex(${ms}), 12, '0')
    || '7' || substr(md5(random()::text), 1, 3)
    || '8' || substr(md5(random()::text), 1, 15)
  )::uuid`

const msOf = (id: string) => `extract(epoch FROM time_of_id(${id})) * 1000`

/**
 * Inserts `$1` cron tasks, as if one had been created every millisecond until now. They fire at New
 * Year, so each task fires only once per measurement.
 */
const insertTasks = (
  target: TaskSettings & { readonly sinkUrl: string; readonly body: string },
  nextFireAt: string
) => `
  INSERT INTO tasks (
    id, workspace_id, kind, name, status, method, url, headers, body, timeout_seconds,
    retry_count, schedule, timezone, overlap, missed, dst_overlap, next_fire_at,
    run_on, flow, flow_parts, created_at, updated_at
  )
  SELECT
    ${idAt(`${nowMs} - $1::int + n`)}, '${target.workspaceId}', 'cron', 'Report ' || n, 'active', 'POST',
    '${target.sinkUrl}', '${target.headers}', '${target.body}', 30,
    0, '0 0 1 1 *', 'UTC', 'skip', 'once', 'first', ${nextFireAt},
    ${target.runOn}, ${target.flow ?? "NULL"}, ${target.flow === undefined ? "NULL" : flowParts}, now(), now()
  FROM generate_series(1, $1::int) AS n`

/** The parts of the key used in `startServiceWithFlow`, as the service stores them. */
const flowParts = `'["run:", { "value": "run.id" }]'`

/** Inserts runs whose ids contain the time at which the run is due. */
const insertRuns = `
  INSERT INTO runs (
    id, workspace_id, task_id, kind, trigger, scheduled_for, due_at, run_on, worker_wait_seconds,
    queue_id, slot_queue_id, state
  )
  SELECT
    run.id, workspace_id, made.id, 'cron', 'manual', now(), now(), run_on,
    CASE WHEN run_on IS NOT NULL THEN 300 END, flow_queue_id, free_slot,
    CASE WHEN flow IS NULL OR free_slot IS NOT NULL THEN 'ready' ELSE 'parked' END
  FROM made
  CROSS JOIN LATERAL (SELECT ${idAt(nowMs)} AS id, made.id AS of_task) AS run
  LEFT JOIN LATERAL enter_flow(
    workspace_id, flow_key(flow, flow_parts, run.id, name, key, NULL), flow, updated_at
  ) ON true
  RETURNING queue_id, state`

/** Announces the runs' keys to the service, as a process that adds runs does. */
const announceRuns = `
  SELECT pg_notify('scheduling_runs', 'admit ' || queue_id)
  FROM inserted
  WHERE state = 'parked'`

/**
 * Reschedules tasks that are spread across the whole table. Each call reschedules different tasks.
 */
export const rescheduleSome = (database: string, work: ScheduledCalls) =>
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
