import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { insertTasks } from "../../packages/server/test/engine/runner/support/tasks.ts"
import { newUser, type ServerProcess } from "../../packages/server/test/support/ServerProcess.ts"

/**
 * Adds runs that become due at a constant rate in a separate workspace. The runs are inserted
 * directly into the queue, because API clients would need more CPU time than the service.
 */
export const startStream = Effect.fnUntraced(function* (options: {
  readonly node: ServerProcess
  readonly databaseUrl: string
  readonly perSecond: number
}) {
  const { databaseUrl, node, perSecond } = options
  const { workspace } = yield* newUser(node)
  const workspaceId = workspace.split("/").at(-1) ?? ""
  const target = yield* startTarget
  const database = PgClient.layer({ url: Redacted.make(databaseUrl), maxConnections: 1 })
  const context = yield* Layer.build(database)

  yield* Effect.provide(
    insertTasks(workspaceId, { count: tasks, url: target.url, overlap: "allow" }),
    context
  )
  let made = 0
  const startedMs = performance.now()
  const more = Effect.suspend(() => {
    const count = Math.floor(((performance.now() - startedMs) / 1_000) * perSecond) - made
    return Effect.tap(
      enqueue(workspaceId, count),
      Effect.sync(() => {
        made += count
      })
    )
  })
  let isStopping = false
  const feeding = yield* more.pipe(
    Effect.andThen(Effect.sleep(everyMs)),
    Effect.repeat({ until: () => isStopping }),
    Effect.provide(context),
    Effect.forkScoped
  )

  /**
   * Stops the stream and lists the differences between due runs, calls and the history. Dies if
   * runs could not be added, because the number of due runs would then be unknown.
   */
  const verify = Effect.gen(function* () {
    isStopping = true
    yield* Effect.orDie(Fiber.join(feeding))
    yield* Effect.sleep(settlesWithinMs)
    const ended = yield* Effect.provide(endedOnce(workspaceId), context)
    return [
      ...(ended === made ? [] : [`${made} runs of the stream were due, ${ended} finished once`]),
      ...(target.calls() === made ? [] : [`${made} were due, ${target.calls()} calls arrived`])
    ]
  })
  return { verify, made: () => made }
})

const tasks = 100

const everyMs = 200

const settlesWithinMs = 10_000

const startTarget = Effect.acquireRelease(
  Effect.promise(async () => {
    let calls = 0
    const server = createServer((request, response) => {
      calls++
      request.resume()
      response.end("ok")
    })
    server.keepAliveTimeout = 60_000
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}/`, calls: () => calls, server }
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
)

/** Inserts evenly spaced due runs, up to the time of the next insert. */
const enqueue = (workspaceId: string, count: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO runs (id, workspace_id, task_id, kind, trigger, lane, scheduled_for, due_at)
      SELECT
        (
          lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint), 12, '0')
          || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15)
        )::uuid,
        workspace_id, id, 'cron', 'manual', lane, due_at, due_at
      FROM (
        SELECT
          *,
          now() + interval '1 second' + n * interval '1 millisecond' * ${everyMs / Math.max(1, count)}::float8 AS due_at
        FROM generate_series(1, ${count}::int) AS n
        JOIN (
          SELECT id, workspace_id, lane, row_number() OVER (ORDER BY id) AS place
          FROM tasks
          WHERE workspace_id = ${workspaceId}
        ) AS numbered ON place = 1 + n % ${tasks}
      ) AS due`
  )

const endedOnce = (workspaceId: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly count: number }>`
      SELECT count(*)::int AS count
      FROM executions
      WHERE workspace_id = ${workspaceId}
        AND status = 'succeeded'
        AND attempts_count = 1`
    return row?.count ?? 0
  })
