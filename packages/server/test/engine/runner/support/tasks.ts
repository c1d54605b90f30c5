import { runOn } from "@scheduling/domain/workers/RunOn"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomInt, randomUUID } from "node:crypto"
import { authorize } from "../../../../src/accounts/access/authorize.ts"
import {
  insertVersion,
  type StoredCallStep,
  type StoredStep
} from "../../../../src/engine/chains/ChainVersions.ts"

/** Inserts a workspace in the given lane. */
export const insertWorkspaceIn = Effect.fnUntraced(function* (lane: bigint) {
  const sql = yield* SqlClient.SqlClient
  const id = authorize(randomUUID())
  yield* sql`
    INSERT INTO workspaces (id, name, lane, created_at)
    VALUES (${id}, 'runner', ${lane.toString()}::bigint, now())`
  return id
})

export const deriveLane = (share: number, account = 0): bigint =>
  BigInt(share) * 2n ** 32n + BigInt(account)

export const insertWorkspace = Effect.suspend(() =>
  insertWorkspaceIn(deriveLane(randomInt(2 ** 31)))
)

export interface TaskFields {
  readonly kind: "cron" | "delayed" | "chain"
  readonly status: "active" | "paused" | "pending"
  readonly url: string
  readonly retry_count: number
  readonly overlap: "allow" | "skip" | "queue"
  readonly missed: "skip" | "once" | "all"
  readonly schedule: string
  /** The number of milliseconds until the task fires. If null, the task never fires. */
  readonly fires_in: number | null
  readonly steps: ReadonlyArray<StoredStep> | null
  readonly body: string | null
  readonly count: number
}

/** A yearly schedule. With it, a task fires only at the time that the test sets. */
export const yearlySchedule = "0 0 1 1 *"

const defaults: TaskFields = {
  kind: "cron",
  status: "active",
  url: "http://127.0.0.1:9/",
  retry_count: 0,
  overlap: "skip",
  missed: "once",
  schedule: yearlySchedule,
  fires_in: null,
  steps: null,
  body: null,
  count: 1
}

/** Inserts the steps for a new version of a chain. */
export const insertSteps = Effect.fnUntraced(function* (
  workspace_id: string,
  steps: ReadonlyArray<StoredStep>
) {
  const sql = yield* SqlClient.SqlClient
  return yield* insertVersion(sql, { workspace_id, chain_id: randomUUID(), steps })
})

/** Inserts identical tasks and returns their ids. */
export const insertTasks = Effect.fnUntraced(function* (
  workspaceId: string,
  fields: Partial<TaskFields> = {}
) {
  const sql = yield* SqlClient.SqlClient
  const task = { ...defaults, ...fields }
  const { steps } = task
  const rows = yield* sql<{ readonly id: string }>`
    INSERT INTO tasks (
      id, workspace_id, kind, name, status, method, url, headers, body, timeout_seconds, retry_count,
      version_id, schedule, timezone, overlap, missed, dst_overlap, next_fire_at, run_at,
      created_at, updated_at
    )
    SELECT
      gen_random_uuid(), ${workspaceId}, ${task.kind}, 'task', ${task.status},
      'POST', ${task.url}, '{}', ${task.body}, 30, ${task.retry_count},
      ${steps === null ? null : yield* insertSteps(workspaceId, steps)}::uuid,
      ${task.kind === "delayed" ? null : task.schedule}, 'UTC', ${task.overlap}, ${task.missed},
      'first',
      now() + ${task.fires_in}::float8 * interval '1 millisecond',
      ${task.kind === "delayed" ? sql`now()` : null},
      now(), now()
    FROM generate_series(1, ${task.count})
    RETURNING id`
  return rows.map((row) => row.id)
})

/** Enqueues a manual run of each task. */
export const enqueueAll = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO runs (id, workspace_id, task_id, kind, trigger, lane, scheduled_for, due_at)
      SELECT
        (
          lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint), 12, '0')
          || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15)
        )::uuid,
        workspace_id, id, 'cron', 'manual', lane, now(), now()
      FROM tasks
      WHERE workspace_id = ${workspaceId}`
  )

/** Inserts many runs of one task, due now or later. */
export const enqueueMany = (
  task: { readonly workspace_id: string; readonly task_id: string },
  count: number,
  dueInMs = 0
) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO runs (id, workspace_id, task_id, kind, trigger, lane, scheduled_for, due_at)
      SELECT
        (
          lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint), 12, '0')
          || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15)
        )::uuid,
        ${task.workspace_id}::uuid, ${task.task_id}::uuid, 'cron', 'manual',
        (SELECT lane FROM tasks WHERE id = ${task.task_id}::uuid), now(),
        now() + ${dueInMs}::float8 * interval '1 millisecond'
      FROM generate_series(1, ${count}::int)`
  )

export const insertTask = (workspaceId: string, fields: Partial<TaskFields> = {}) =>
  Effect.map(insertTasks(workspaceId, fields), ([id]) => id ?? "")

export const callStep = (name: string, fields: Partial<StoredCallStep> = {}): StoredCallStep => ({
  kind: "call",
  name,
  method: "POST",
  url: `http://127.0.0.1:9/${name}`,
  headers: {},
  body: null,
  timeout_seconds: 30,
  retry_count: 0,
  ...runOn.defaults,
  run_if: "success",
  ...fields
})

export interface HistoryRow {
  readonly id: string
  readonly task_id: string
  readonly trigger: string
  readonly status: string
  readonly step: string | null
  readonly scheduled_for: Date
  readonly started_at: Date | null
  readonly finished_at: Date
  readonly lateness_ms: number | null
  readonly attempts_count: number
  readonly status_code: number | null
  readonly error: string | null
}

export const readExecutions = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<HistoryRow>`
      SELECT
        id, task_id, trigger, status, step, scheduled_for, started_at, finished_at,
        lateness_ms::float8, attempts_count, status_code, error
      FROM executions
      WHERE workspace_id = ${workspaceId}
      ORDER BY id`
  )

export const readRuns = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{
      readonly id: string
      readonly task_id: string
      readonly state: string
      readonly attempt: number
      readonly lease_owner: number | null
    }>`
      SELECT id, task_id, state, attempt, lease_owner
      FROM runs
      WHERE workspace_id = ${workspaceId}
      ORDER BY id`
  )

/** Repeats the effect until its result meets the condition, for at most ten seconds. */
export const eventually = <A, E, R>(
  question: Effect.Effect<A, E, R>,
  holds: (answer: A) => boolean,
  attempts = 500
): Effect.Effect<A, E, R> =>
  Effect.flatMap(question, (answer) => {
    if (holds(answer)) return Effect.succeed(answer)
    if (attempts === 0) {
      return Effect.die(
        new Error(`it did not come true: ${JSON.stringify(answer)?.slice(0, 2_000)}`)
      )
    }
    return Effect.andThen(Effect.sleep(20), eventually(question, holds, attempts - 1))
  })
