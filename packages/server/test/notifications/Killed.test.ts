// @tags processes long
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { makePostgresCluster, clusterSkipReason } from "../support/PostgresCluster.ts"
import { sendJson, eventually, temporaryFolder } from "../support/ServerProcess.ts"
import { assertNotifiedOnce, startFixture, createHeartbeat, maxWaitMs } from "./support/fixture.ts"

/** Creates a fixture with its own database, in which the test can read rows and hold locks. */
const setUp = Effect.gen(function* () {
  // Enough connections for two nodes and for the test, which observes the nodes.
  const postgres = yield* makePostgresCluster(50)
  yield* postgres.start
  yield* postgres.query("CREATE ROLE app LOGIN; GRANT ALL ON SCHEMA public TO app")
  const fixture = yield* startFixture({
    DATABASE_URL: postgres.url,
    DATA_DIR: yield* temporaryFolder("killed"),
    APP_SECRET: "a secret for tests, thirty-two bytes and more"
  })
  const ownConnections = PgClient.layer({
    url: Redacted.make(postgres.ownerUrl),
    maxConnections: 2
  })
  const sql = Context.get(yield* Layer.build(ownConnections), SqlClient.SqlClient)
  return {
    ...fixture,
    postgres,
    sql,
    /** Makes the killed node's leases expire. */
    endLeases: postgres.query(`
      UPDATE notification_deliveries
      SET next_at = now()
      WHERE status = 'sending'`)
  }
})

type OwnFixture = Effect.Success<typeof setUp>

/** Takes a lock. The returned effect releases it. */
const lockOn = (sql: SqlClient.SqlClient, statement: string) =>
  Effect.gen(function* () {
    const isHeld = yield* Deferred.make<void>()
    const isOver = yield* Deferred.make<void>()
    const holding = yield* Effect.forkScoped(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql.unsafe(statement)
          yield* Deferred.succeed(isHeld, undefined)
          yield* Deferred.await(isOver)
        })
      )
    )
    yield* Deferred.await(isHeld)
    return Effect.andThen(Deferred.succeed(isOver, undefined), Effect.orDie(Fiber.join(holding)))
  })

const someoneWaits = (sql: SqlClient.SqlClient) =>
  eventually(
    "somebody who waits for the lock",
    async () => {
      const [row] = await Effect.runPromise(
        sql<{ readonly waiting: number }>`
          SELECT count(*)::int AS waiting
          FROM pg_stat_activity
          WHERE wait_event_type = 'Lock'`
      )
      return (row?.waiting ?? 0) > 0
    },
    maxWaitMs
  )

/** Creates a heartbeat monitor that has been pinged and is now overdue. */
const overdue = Effect.fnUntraced(function* (fixture: OwnFixture, name: string) {
  const heartbeat = yield* createHeartbeat(fixture, name)
  yield* Effect.promise(() => fetch(fixture.node().url + heartbeat.pingPath))
  const past = "interval '2 minutes'"
  yield* fixture.postgres.query(`
    UPDATE heartbeats
    SET version = version + 1, last_ping_at = last_ping_at - ${past},
        expected_at = expected_at - ${past}, alert_at = alert_at - ${past},
        check_at = check_at - ${past}
    WHERE monitor_id = '${heartbeat.id}'`)
  return heartbeat
})

/**
 * The points at which a node is killed. Each has the way in which the test stops the node at that
 * point, and the condition that holds afterwards.
 */
const places: Readonly<
  Record<
    string,
    (fixture: OwnFixture) => Effect.Effect<Effect.Effect<unknown>, unknown, Scope.Scope>
  >
> = {
  "before the transition": ({ sql }) => lockOn(sql, "LOCK TABLE incidents IN EXCLUSIVE MODE"),
  "after the transition": ({ sql }) => lockOn(sql, "LOCK TABLE problems IN EXCLUSIVE MODE"),
  "before the send": ({ sql }) => lockOn(sql, "LOCK TABLE notification_attempts IN EXCLUSIVE MODE")
}

describe.skipIf(clusterSkipReason !== undefined)(
  `A node that is killed${clusterSkipReason === undefined ? "" : ` (skipped: ${clusterSkipReason})`}`,
  () => {
    it.live(
      "at any step of the way loses no message, and nobody is notified twice",
      () =>
        Effect.gen(function* () {
          const fixture = yield* setUp
          const { channel, endLeases, holdAnswers, hookCalls, postgres, replaceNode, sql } = fixture

          for (const [name, holdUp] of Object.entries(places)) {
            const release = yield* holdUp(fixture)
            const monitor = yield* overdue(fixture, name)
            yield* someoneWaits(sql)
            yield* replaceNode(release)
            yield* assertNotifiedOnce(fixture, monitor)
          }

          // After the message is sent: it has arrived, but the node never receives the response.
          const answer = yield* holdAnswers
          const sent = hookCalls()
          const unanswered = yield* overdue(fixture, "without an answer")
          yield* eventually("a message", async () => hookCalls() > sent, maxWaitMs)
          yield* replaceNode(Effect.andThen(answer, endLeases))
          yield* assertNotifiedOnce(fixture, unanswered)

          // Before the result is recorded: the node receives the response, but cannot write the
          // result.
          const answerLater = yield* holdAnswers
          const before = hookCalls()
          const unrecorded = yield* overdue(fixture, "without a record")
          yield* eventually("another message", async () => hookCalls() > before, maxWaitMs)
          const release = yield* lockOn(
            sql,
            `SELECT FROM notification_channels WHERE id = '${channel.id}' FOR UPDATE`
          )
          yield* answerLater
          yield* someoneWaits(sql)
          yield* replaceNode(Effect.andThen(release, endLeases))
          yield* assertNotifiedOnce(fixture, unrecorded)

          // The node is frozen while a message is in flight, and the other node continues. Then the
          // frozen node resumes.
          const frozen = fixture.node()
          const answerFrozen = yield* holdAnswers
          const atFreeze = hookCalls()
          const watched = yield* overdue(fixture, "beside a frozen node")
          yield* eventually("a third message", async () => hookCalls() > atFreeze, maxWaitMs)
          frozen.kill("SIGSTOP")
          yield* answerFrozen
          fixture.use(yield* fixture.start)
          yield* endLeases
          yield* assertNotifiedOnce(fixture, watched)
          frozen.kill("SIGCONT")
          const after = yield* overdue(fixture, "beside a thawed node")
          yield* assertNotifiedOnce(fixture, after)
          assert.lengthOf(fixture.eventsOf(watched.id), 2)

          // The database restarts while both nodes are running.
          yield* postgres.crash
          yield* postgres.start
          yield* eventually(
            "the database",
            async () => (await sendJson(fixture.node(), "GET", "/v1/ready")).status === 200
          )
          yield* assertNotifiedOnce(fixture, yield* overdue(fixture, "after a restart"))
        }),
      { timeout: 300_000 }
    )
  }
)
