// @tags alone
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { makePostgresCluster, clusterSkipReason } from "../../support/PostgresCluster.ts"
import { databaseLayer, onPostgres } from "../../support/TestDatabase.ts"
import { startNode, startSink } from "./support/processes.ts"
import {
  enqueueAll,
  eventually,
  readExecutions,
  insertTasks,
  insertWorkspace,
  readRuns
} from "./support/tasks.ts"

/** The embedded store has no server to restart, and CI runs every test file on both stores. */
const skipped = onPostgres ? clusterSkipReason : "TEST_DATABASE_URL is not set"

const runs = 3_000
const options = { concurrency: 100 }

/** A pool does not notice that a connection is lost until it uses the connection. */
const patiently = Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 50 })

const liveNodes = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly id: number }>`
    SELECT id
    FROM nodes
    WHERE died_at IS NULL
      AND lease_until > now()`
)

describe.skipIf(skipped !== undefined)(
  `PostgreSQL that is restarted under load${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    it.live(
      "loses no run, repeats at most what was in flight, and the nodes continue by themselves",
      () =>
        Effect.gen(function* () {
          // Each node uses nine connections, and PostgreSQL reserves three for superusers.
          const postgres = yield* makePostgresCluster(30)
          yield* postgres.start
          yield* postgres.query("CREATE ROLE app LOGIN; GRANT ALL ON SCHEMA public TO app")
          yield* Effect.gen(function* () {
            const nodes = yield* Effect.all(
              [startNode(postgres.url, options), startNode(postgres.url, options)],
              { concurrency: 2 }
            )
            const sink = yield* startSink(() => 100)
            const workspace = yield* insertWorkspace
            yield* insertTasks(workspace, { count: runs, url: sink.url })
            yield* enqueueAll(workspace)

            const called = (atLeast: number) =>
              eventually(
                Effect.sync(() => sink.calls.size),
                (made) => made >= atLeast
              )
            let inFlight = 0
            for (const [stop, after] of [
              [postgres.stop, runs / 5],
              [postgres.crash, (runs * 3) / 5]
            ] as const) {
              yield* called(after)
              assert.isAbove(sink.open(), 0)
              inFlight += nodes.length * options.concurrency
              yield* stop
              assert.isBelow(sink.calls.size, runs)
              yield* postgres.start
            }

            yield* called(runs)
            yield* eventually(patiently(readRuns(workspace)), (left) => left.length === 0)
            const ended = yield* readExecutions(workspace)
            assert.strictEqual(ended.length, runs)
            assert.strictEqual(new Set(ended.map((run) => run.task_id)).size, runs)
            assert.isTrue(ended.every((run) => run.status === "succeeded"))
            const ran = ended.map((run) => run.id)
            assert.sameMembers([...sink.calls.keys()], ran)

            const repeats = [...sink.calls.values()].reduce((sum, calls) => sum + calls - 1, 0)
            assert.isAtMost(repeats, inFlight)
            assert.deepStrictEqual(
              nodes.map(({ exitCode, signalCode }) => exitCode ?? signalCode),
              [null, null]
            )
            assert.strictEqual((yield* liveNodes).length, 2)
          }).pipe(Effect.provide(databaseLayer(postgres.url, 2)))
        })
    )
  }
)
