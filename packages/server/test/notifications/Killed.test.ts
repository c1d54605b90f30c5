// @tags processes long
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { makePostgresCluster, noCluster } from "../support/PostgresCluster.ts"
import { call, eventually, temporaryFolder } from "../support/ServerProcess.ts"
import { assertNotifiedOnce, beginScene, createHeartbeat, withinMs } from "./support/scene.ts"

/** Creates a scene on a separate database, in which the test can read and hold locks. */
const begin = Effect.gen(function* () {
  // Connections for two nodes and for the test, which watches them.
  const postgres = yield* makePostgresCluster(50)
  yield* postgres.start
  yield* postgres.query("CREATE ROLE app LOGIN; GRANT ALL ON SCHEMA public TO app")
  const scene = yield* beginScene({
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
    ...scene,
    postgres,
    sql,
    /** Lets the leases of the killed node expire. */
    endLeases: postgres.query(`
      UPDATE notification_deliveries
      SET next_at = now()
      WHERE status = 'sending'`)
  }
})

type OwnScene = Effect.Success<typeof begin>

/** Holds a lock until the returned effect is run. */
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
    withinMs
  )

/** Creates a heartbeat that was pinged and is overdue. */
const overdue = Effect.fnUntraced(function* (scene: OwnScene, name: string) {
  const heartbeat = yield* createHeartbeat(scene, name)
  yield* Effect.promise(() => fetch(scene.node().url + heartbeat.pingPath))
  const past = "interval '2 minutes'"
  yield* scene.postgres.query(`
    UPDATE heartbeats
    SET version = version + 1, last_ping_at = last_ping_at - ${past},
        expected_at = expected_at - ${past}, alert_at = alert_at - ${past},
        check_at = check_at - ${past}
    WHERE monitor_id = '${heartbeat.id}'`)
  return heartbeat
})

/**
 * The points at which a node is killed: how the test stops it there, and the condition that holds
 * then.
 */
const places: Readonly<
  Record<string, (scene: OwnScene) => Effect.Effect<Effect.Effect<unknown>, unknown, Scope.Scope>>
> = {
  "before the transition": ({ sql }) => lockOn(sql, "LOCK TABLE incidents IN EXCLUSIVE MODE"),
  "after the transition": ({ sql }) => lockOn(sql, "LOCK TABLE problems IN EXCLUSIVE MODE"),
  "before the send": ({ sql }) => lockOn(sql, "LOCK TABLE notification_attempts IN EXCLUSIVE MODE")
}

describe.skipIf(noCluster !== undefined)(
  `A node that is killed${noCluster === undefined ? "" : ` (skipped: ${noCluster})`}`,
  () => {
    it.live(
      "at any step of the way loses no message, and nobody is notified twice",
      () =>
        Effect.gen(function* () {
          const scene = yield* begin
          const { channel, endLeases, holdAnswers, hookCalls, postgres, replaceNode, sql } = scene

          for (const [name, holdUp] of Object.entries(places)) {
            const release = yield* holdUp(scene)
            const monitor = yield* overdue(scene, name)
            yield* someoneWaits(sql)
            yield* replaceNode(release)
            yield* assertNotifiedOnce(scene, monitor)
          }

          // After the send: the message has arrived, and the node never gets the response.
          const answer = yield* holdAnswers
          const sent = hookCalls()
          const unanswered = yield* overdue(scene, "without an answer")
          yield* eventually("a message", async () => hookCalls() > sent, withinMs)
          yield* replaceNode(Effect.andThen(answer, endLeases))
          yield* assertNotifiedOnce(scene, unanswered)

          // Before the record: the node gets the response, and cannot write the result.
          const answerLater = yield* holdAnswers
          const before = hookCalls()
          const unrecorded = yield* overdue(scene, "without a record")
          yield* eventually("another message", async () => hookCalls() > before, withinMs)
          const release = yield* lockOn(
            sql,
            `SELECT FROM notification_channels WHERE id = '${channel.id}' FOR UPDATE`
          )
          yield* answerLater
          yield* someoneWaits(sql)
          yield* replaceNode(Effect.andThen(release, endLeases))
          yield* assertNotifiedOnce(scene, unrecorded)

          // The node is frozen with a message in flight, while another node continues. Then it
          // wakes up.
          const frozen = scene.node()
          const answerFrozen = yield* holdAnswers
          const atFreeze = hookCalls()
          const watched = yield* overdue(scene, "beside a frozen node")
          yield* eventually("a third message", async () => hookCalls() > atFreeze, withinMs)
          frozen.kill("SIGSTOP")
          yield* answerFrozen
          scene.use(yield* scene.start)
          yield* endLeases
          yield* assertNotifiedOnce(scene, watched)
          frozen.kill("SIGCONT")
          const after = yield* overdue(scene, "beside a thawed node")
          yield* assertNotifiedOnce(scene, after)
          assert.lengthOf(scene.eventsOf(watched.id), 2)

          // The database restarts while both nodes run.
          yield* postgres.crash
          yield* postgres.start
          yield* eventually(
            "the database",
            async () => (await call(scene.node(), "GET", "/v1/ready")).status === 200
          )
          yield* assertNotifiedOnce(scene, yield* overdue(scene, "after a restart"))
        }),
      { timeout: 300_000 }
    )
  }
)
