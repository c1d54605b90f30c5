import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"

interface QueueFields {
  readonly max_concurrency: number | null
  readonly rate_per_second: number | null
  readonly paused: boolean
}

/** Inserts a queue and returns its id. */
export const insertQueue = Effect.fnUntraced(function* (
  workspaceId: AuthorizedWorkspaceId,
  fields: Partial<QueueFields>
) {
  const sql = yield* SqlClient.SqlClient
  const id = randomUUID()
  const queue = { max_concurrency: null, rate_per_second: null, paused: false, ...fields }
  yield* sql`
    INSERT INTO queues (
      id, workspace_id, name, max_concurrency, rate_per_second, paused, next_at, created_at,
      updated_at
    )
    VALUES (
      ${id}, ${workspaceId}, 'queue', ${queue.max_concurrency}, ${queue.rate_per_second},
      ${queue.paused}, now(), now(), now()
    )`
  return id
})

/** Assigns a queue to tasks that have no runs. */
export const setQueue = (taskIds: ReadonlyArray<string>, queueId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      UPDATE tasks
      SET queue_id = ${queueId}
      WHERE id = ANY (${taskIds}::uuid[])`
  )

/** Inserts overdue runs of a task into the task's queue, as if the service had not been running. */
export const enqueueOverdue = (taskId: string, count: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO runs (
        id, workspace_id, task_id, kind, trigger, lane, scheduled_for, due_at, queue_id, state
      )
      SELECT
        (
          lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint), 12, '0')
          || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15)
        )::uuid,
        tasks.workspace_id, tasks.id, 'cron', 'manual', tasks.lane, now(),
        now() - n * interval '1 second', tasks.queue_id,
        CASE WHEN tasks.queue_id IS NULL THEN 'ready' ELSE 'parked' END
      FROM tasks
      CROSS JOIN generate_series(1, ${count}::int) AS n
      WHERE tasks.id = ${taskId}`
  )

/** Counts the calls in progress, and records when each call started. */
export class CallsInProgress {
  open = 0
  most = 0
  readonly began: Array<number> = []

  begin(): void {
    this.began.push(performance.now())
    this.most = Math.max(this.most, ++this.open)
  }

  end(): void {
    this.open--
  }

  /** Returns the highest number of calls that started within any period of this length. */
  mostWithin(ms: number): number {
    let first = 0
    return this.began.reduce((most, at, index) => {
      while ((this.began[first] ?? at) < at - ms) first++
      return Math.max(most, index - first + 1)
    }, 0)
  }
}
