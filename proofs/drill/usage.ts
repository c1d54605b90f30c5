import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { startSink } from "../../packages/server/test/engine/runner/support/processes.ts"
import { enqueueAll, insertTasks } from "../../packages/server/test/engine/runner/support/tasks.ts"
import {
  sendJson,
  eventually,
  newUser,
  type ServerProcess
} from "../../packages/server/test/support/ServerProcess.ts"
import { startNode } from "./fixture/Fixture.ts"
import { startPostgres, postgresStore } from "./fixture/Store.ts"
import { tableOf } from "./table.ts"

/**
 * Kills one of two nodes while both of them process many runs. The workspace's reported usage must
 * always match its history.
 */
export const usageDrill = Effect.fnUntraced(function* (runs: number) {
  const store = postgresStore((yield* startPostgres).url)
  const sink = yield* startSink(() => callMs)
  const [victim, other] = yield* Effect.all([startNode(store), startNode(store)])
  const owner = yield* newUser(victim)
  const workspaceId = owner.workspace.split("/").at(-1) ?? ""
  const used = usedBy(other, owner)
  const ended = store.ask(countCalled(workspaceId))

  const startedMs = performance.now()
  yield* store.ask(insertTasks(workspaceId, { count: runs, url: sink.url }))
  yield* store.ask(enqueueAll(workspaceId))
  const cancelling = yield* Effect.forkChild(cancelSome(other, owner, sink.url))
  yield* eventually("half of the runs", async () => sink.calls.size >= runs / 2, withinMs)
  victim.kill("SIGKILL")

  const wrong: Array<string> = []
  let looks = 0
  for (let before = yield* ended; before < runs; looks++) {
    const said = yield* used
    const after = yield* ended
    if (said < before || said > after) {
      wrong.push(`${said} counted while history went from ${before} to ${after}`)
    }
    if (performance.now() - startedMs > withinMs) break
    before = after
    yield* Effect.sleep("250 millis")
  }
  const seconds = (performance.now() - startedMs) / 1000
  yield* Fiber.join(cancelling)
  yield* store.ask(rolledUp)

  const counted = yield* used
  const found = yield* store.ask(history(workspaceId))
  const called = new Set(sink.calls.keys())
  const cells = [runs, called.size, [...sink.calls.values()].filter((calls) => calls > 1).length]
  const figures = [...cells, found.called.size, counted, looks].map(String)
  yield* Effect.sync(() =>
    console.log(`${header}\n${row(["usage", ...figures, `${seconds.toFixed(0)} s`])}`)
  )
  return {
    broken: [
      ...wrong.slice(0, 3),
      ...(looks === 0 ? ["all runs had finished when the node was killed"] : []),
      ...differ("counted", counted, "in history", found.called.size),
      ...differ("in history", found.called.size, "requested", runs),
      ...differ("tasks in history", found.tasks, "requested", runs),
      ...differ("finished without a call", found.uncalled, "cancelled", cancelled),
      ...differ("only called", missing(called, found.called), "expected", 0),
      ...differ("only in history", missing(found.called, called), "expected", 0)
    ]
  }
})

/** A call's duration. It is long enough that the killed node has calls in flight. */
const callMs = 50

/**
 * The number of runs that are cancelled before making a call. They must not count towards usage.
 */
const cancelled = 100

const withinMs = 600_000

type Owner = Effect.Success<ReturnType<typeof newUser>>

const { header, row } = tableOf([
  ["drill", 9],
  ["runs", 7],
  ["called", 7],
  ["repeated", 8],
  ["in history", 10],
  ["counted", 7],
  ["looks", 5],
  ["took", 6]
])

const differ = (one: string, count: number, other: string, expected: number) =>
  count === expected ? [] : [`${count} ${one}, ${expected} ${other}`]

const missing = (ids: ReadonlySet<string>, from: ReadonlySet<string>) =>
  [...ids].filter((id) => !from.has(id)).length

const cancelSome = (node: ServerProcess, { token, workspace }: Owner, url: string) =>
  Effect.promise(async () => {
    const ask = async (method: string, at: string, body?: object) => {
      const answer = await sendJson(node, method, workspace + at, { token, body })
      if (answer.status >= 300) throw new Error(`${method} ${at}: ${answer.status}`)
      return answer.body
    }
    for (let n = 0; n < cancelled; n++) {
      const { id } = await ask("POST", "/delayed", { url, delay_seconds: 3_600 })
      const { data } = await ask("GET", `/executions/scheduled?task_id=${id}`)
      await ask("POST", `/executions/${data[0].id}/cancel`)
    }
  })

const usedBy = (node: ServerProcess, { token, workspace }: Owner) =>
  Effect.promise(async () => {
    const { body } = await sendJson(node, "GET", `${workspace}/billing/usage`, { token })
    const days: ReadonlyArray<{ readonly executions: number }> = body.data
    return days.reduce((sum, { executions }) => sum + executions, 0)
  })

const countCalled = (workspaceId: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly called: number }>`
      SELECT count(*)::int AS called
      FROM executions
      WHERE workspace_id = ${workspaceId}
        AND attempts_count > 0`
    return row?.called ?? 0
  })

const history = (workspaceId: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{
      readonly id: string
      readonly task_id: string
      readonly attempts_count: number
    }>`
      SELECT id, task_id, attempts_count
      FROM executions
      WHERE workspace_id = ${workspaceId}`
    const called = rows.filter(({ attempts_count }) => attempts_count > 0)
    return {
      called: new Set(called.map(({ id }) => id)),
      tasks: new Set(called.map(({ task_id }) => task_id)).size,
      uncalled: rows.length - called.length
    }
  })

/** Waits until the daily usage includes all executions. */
const rolledUp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const left = sql<{ readonly left: number }>`
    SELECT count(*)::int AS left
    FROM executions
    WHERE ordinal > (SELECT counted_up_to FROM execution_stats_progress)`
  for (let tries = 0; (yield* left)[0]?.left !== 0; tries++) {
    if (tries > 200) return yield* Effect.die(new Error("the statistics do not keep up"))
    yield* Effect.sleep("1 second")
  }
})
