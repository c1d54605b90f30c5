import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { admit } from "../../../src/engine/transitions/admit.ts"
import { insertTask, insertWorkspace } from "../runner/support/tasks.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { enqueueOverdue, insertQueue, setQueue } from "../queues/queues.ts"
import { insertRun, createFixture } from "./fixture.ts"

const waitingRuns = Effect.fnUntraced(function* (places: number, runs: number) {
  const workspace = yield* insertWorkspace
  const queueId = yield* insertQueue(workspace, { max_concurrency: places })
  const task = yield* insertTask(workspace, { url: "https://example.com/leased" })
  yield* setQueue([task], queueId)
  yield* enqueueOverdue(task, runs)
  return { queueId, task }
})

const insertNode = (isDead: boolean) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly id: number }>`
      INSERT INTO nodes (holds_lock, lease_until, died_at)
      VALUES (true, now() + interval '1 minute', ${isDead ? new Date() : null}::timestamptz)
      RETURNING id`
  ).pipe(Effect.map(([row]) => row?.id ?? assert.fail("no node")))

const leasedTo = (taskId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly lease_owner: number | null }>`
      SELECT lease_owner
      FROM runs
      WHERE task_id = ${taskId}
        AND state <> 'parked'
      ORDER BY lease_owner NULLS LAST`
  ).pipe(Effect.map((rows) => rows.map(({ lease_owner }) => lease_owner)))

layer(TestDatabaseLayer)("an admitted run", (it) => {
  it.effect("is leased to the node that admits it, as far as the node has room", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { queueId, task } = yield* waitingRuns(3, 5)
      const node = yield* insertNode(false)
      const { full, isMore, leased, open } = yield* admit(sql, [queueId], {
        node,
        limit: 2,
        except: []
      })
      assert.deepStrictEqual(yield* leasedTo(task), [node, node, null])
      assert.deepStrictEqual(
        leased.map(({ holdsSlot, target }) => [holdsSlot, target]),
        [
          [true, "https://example.com"],
          [true, "https://example.com"]
        ]
      )
      assert.isTrue(isMore)
      assert.deepStrictEqual([full, open], [[queueId], []])
    })
  )

  it.effect("is left to all nodes if its account has enough runs, or if the node is dead", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { queueId, task } = yield* waitingRuns(1, 2)
      const [row] = yield* sql<{ readonly share: number }>`
        SELECT (lane >> 32)::integer AS share
        FROM tasks
        WHERE id = ${task}`
      const node = yield* insertNode(false)
      const first = yield* admit(sql, [queueId], { node, limit: 9, except: [row?.share ?? 0] })
      assert.isEmpty(first.leased)
      assert.isTrue(first.isMore)

      const other = yield* waitingRuns(4, 2)
      const dead = yield* insertNode(true)
      const second = yield* admit(sql, [other.queueId], { node: dead, limit: 9, except: [] })
      assert.isEmpty(second.leased)
      assert.deepStrictEqual([second.full, second.open], [[], [other.queueId]])
      assert.deepStrictEqual(yield* leasedTo(other.task), [null, null])
    })
  )
})

layer(TestDatabaseLayer)("the next run of a queue", (it) => {
  it.effect("is the one with the highest priority, unless another has waited much longer", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const fixture = yield* createFixture(true)
      const minutesAgo = (minutes: number, priority: number) =>
        insertRun(fixture, "parked", { due_at: new Date(Date.now() - minutes * 60_000), priority })
      const urgent = yield* minutesAgo(1, 100)
      const usual = yield* minutesAgo(2, 0)
      // Having waited for 20 minutes outweighs a priority that is 100 points higher.
      const patient = yield* minutesAgo(20, 0)
      const low = yield* minutesAgo(3, -100)
      const early = yield* minutesAgo(-1, 100)
      const order: Array<string | undefined> = []
      yield* sql`UPDATE queues SET max_concurrency = 1 WHERE id = ${fixture.queue}`
      for (let nth = 0; nth < 5; nth++) {
        const { leased } = yield* admit(sql, [fixture.queue ?? ""], {
          node: fixture.node,
          limit: 1,
          except: []
        })
        order.push(leased[0]?.id)
        yield* sql`DELETE FROM runs WHERE id = ${leased[0]?.id ?? early}`
      }
      // A run that is not due yet has to wait, whatever its priority.
      assert.deepStrictEqual(order, [patient, urgent, usual, low, undefined])
    })
  )

  it.effect("is admitted by priority even when each start has a scheduled time", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const fixture = yield* createFixture(true)
      yield* sql`
        UPDATE queues
        SET max_concurrency = NULL, rate_per_second = 1000
        WHERE id = ${fixture.queue}`
      const later = yield* insertRun(fixture, "parked")
      const sooner = yield* insertRun(fixture, "parked", { priority: 5 })
      const { leased } = yield* admit(sql, [fixture.queue ?? ""], {
        node: fixture.node,
        limit: 9,
        except: []
      })
      const inOrder = leased.toSorted((a, b) => a.due_ms - b.due_ms)
      assert.deepStrictEqual(
        inOrder.map(({ id }) => id),
        [sooner, later]
      )
    })
  )
})
