import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { makePostgresCluster, noCluster } from "../support/PostgresCluster.ts"
import {
  call,
  eventually,
  newUser,
  type ServerProcess,
  startServer,
  temporaryFolder
} from "../support/ServerProcess.ts"
import { httpReceiver, smtpReceiver } from "./support/receivers.ts"

const withinMs = 60_000

/** A database, people who are told by mail and by webhook, and nodes that may be killed. */
const begin = Effect.gen(function* () {
  // Two nodes, and whoever looks at what they do.
  const postgres = yield* makePostgresCluster(50)
  yield* postgres.start
  yield* postgres.query("CREATE ROLE app LOGIN; GRANT ALL ON SCHEMA public TO app")
  const smtp = yield* smtpReceiver()
  let hold: Promise<void> | undefined
  const hook = yield* httpReceiver(() => (hold === undefined ? {} : { after: hold }))
  const folder = yield* temporaryFolder("killed")
  const start = startServer({
    DATABASE_URL: postgres.url,
    DATA_DIR: folder,
    APP_SECRET: "a secret for tests, thirty-two bytes and more",
    EGRESS_ALLOW: "127.0.0.0/8",
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}?tls.rejectUnauthorized=false`,
    MAIL_FROM: "alerts@scheduling.test",
    PUBLIC_URL: "https://scheduling.test"
  })
  let node: ServerProcess = yield* start
  const ownConnections = PgClient.layer({
    url: Redacted.make(postgres.ownerUrl),
    maxConnections: 2
  })
  const sql = Context.get(yield* Layer.build(ownConnections), SqlClient.SqlClient)
  const { token, workspace } = yield* newUser(node)
  const ask = (method: string, at: string, body?: object) =>
    Effect.promise(() =>
      call(node, method, workspace + at, { token, ...(body === undefined ? {} : { body }) })
    )

  const link = yield* eventually(
    "a link for the email",
    async () => /\/email\/verify\/\S+/.exec(smtp.mails[0]?.text ?? "")?.[0],
    withinMs
  )
  yield* Effect.promise(() => fetch(node.url + link, { method: "POST" }))
  const { body: channel } = yield* ask("POST", "/notifications/channels", {
    name: "hook",
    kind: "webhook",
    config: { url: `${hook.url}/alerts` }
  })
  const { body: channels } = yield* ask("GET", "/notifications/channels")
  const channel_ids = channels.data.map(({ id }: { readonly id: string }) => id)
  const put = yield* ask("PUT", "/notifications/settings", {
    version: 1,
    group_seconds: 0,
    rules: [{ events: ["monitor.down", "monitor.up"], channel_ids }]
  })
  assert.strictEqual(put.status, 200, JSON.stringify(put.body))

  /** What the webhook was told about a monitor, each message once, whatever was sent again. */
  const toldOf = (monitorId: string): ReadonlyArray<string> => {
    const messages = new Map(hook.received.map(({ body }) => [body.id, body.events]))
    return [...messages.values()]
      .flat()
      .filter(({ subject_id }) => subject_id === monitorId)
      .map(({ event }) => event)
  }
  const mailsOf = (name: string) =>
    new Set(
      smtp.mails
        .filter(({ headers }) => headers.get("subject")?.includes(name))
        .map(({ headers }) => headers.get("message-id"))
    ).size

  return {
    postgres,
    sql,
    ask,
    channel,
    toldOf,
    mailsOf,
    node: () => node,
    start,
    hookCalls: () => hook.received.length,
    /** Kills the node, lets something happen, and starts another one. */
    replaceNode: (meanwhile: Effect.Effect<unknown> = Effect.void) =>
      Effect.gen(function* () {
        node.kill("SIGKILL")
        yield* node.exited
        yield* meanwhile
        node = yield* start
      }),
    use: (other: ServerProcess) => {
      node = other
    },
    /** From now on the webhook does not answer, until the returned effect is run. */
    holdAnswers: Effect.sync(() => {
      const { promise, resolve } = Promise.withResolvers<void>()
      hold = promise
      return Effect.sync(() => {
        hold = undefined
        resolve()
      })
    }),
    /** As if the time of a lease had passed, which the node that was killed held. */
    endLeases: postgres.query(`
      UPDATE notification_channels
      SET lease_until = now(), next_at = now()
      WHERE lease IS NOT NULL`)
  }
})

type Scene = Effect.Success<typeof begin>

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

/** A heartbeat that was pinged, and whose time is up. */
const overdue = Effect.fnUntraced(function* ({ ask, node, postgres }: Scene, name: string) {
  const { body } = yield* ask("POST", "/monitors/heartbeat", {
    name,
    period_seconds: 30,
    grace_seconds: 30
  })
  const url = node().url + new URL(String(body.ping_url)).pathname
  yield* Effect.promise(() => fetch(url))
  const past = "interval '2 minutes'"
  yield* postgres.query(`
    UPDATE heartbeats
    SET version = version + 1, last_ping_at = last_ping_at - ${past},
        expected_at = expected_at - ${past}, alert_at = alert_at - ${past},
        check_at = check_at - ${past}
    WHERE monitor_id = '${body.id}'`)
  return { id: String(body.id), name, pingPath: new URL(String(body.ping_url)).pathname }
})

/** It is told once that it is down, and once that it is back, of one incident. */
const assertToldOnce = Effect.fnUntraced(function* (
  { ask, mailsOf, node, toldOf }: Scene,
  { id, name, pingPath }: Effect.Success<ReturnType<typeof overdue>>
) {
  yield* eventually(`${name}: down`, async () => toldOf(id).length === 1, withinMs)
  yield* eventually(`${name}: a mail`, async () => mailsOf(name) === 1, withinMs)
  yield* Effect.promise(() => fetch(node().url + pingPath))
  yield* eventually(`${name}: up`, async () => toldOf(id).length === 2, withinMs)
  yield* eventually(`${name}: another mail`, async () => mailsOf(name) === 2, withinMs)
  assert.deepStrictEqual(toldOf(id), ["monitor.down", "monitor.up"], name)
  const { body } = yield* ask("GET", `/incidents?monitor_id=${id}`)
  assert.lengthOf(body.data, 1, name)
  assert.isNotNull(body.data[0].closed_at, name)
  // What was sent may be written down a moment later.
  const deliveries = yield* eventually(
    `${name}: four deliveries`,
    async () => {
      const { body: incident } = await Effect.runPromise(
        ask("GET", `/incidents/${body.data[0].id}`)
      )
      const statuses = incident.deliveries.map(({ status }: { readonly status: string }) => status)
      return !statuses.includes("sending") && !statuses.includes("queued") && statuses
    },
    withinMs
  )
  assert.deepStrictEqual(deliveries, Array(4).fill("delivered"), name)
})

/** Where a node is killed: what holds it up there, and what is so when it stands there. */
const places: Readonly<
  Record<string, (scene: Scene) => Effect.Effect<Effect.Effect<unknown>, unknown, Scope.Scope>>
> = {
  "before the transition": ({ sql }) => lockOn(sql, "LOCK TABLE incidents IN EXCLUSIVE MODE"),
  "after the transition": ({ sql }) => lockOn(sql, "LOCK TABLE troubles IN EXCLUSIVE MODE"),
  "before the send": ({ sql }) => lockOn(sql, "LOCK TABLE notification_attempts IN EXCLUSIVE MODE")
}

describe.skipIf(noCluster !== undefined)(
  `A node that is killed${noCluster === undefined ? "" : ` (skipped: ${noCluster})`}`,
  () => {
    it.live(
      "at any step of the way loses no message, and nobody is told twice",
      () =>
        Effect.gen(function* () {
          const scene = yield* begin
          const { channel, endLeases, holdAnswers, hookCalls, postgres, replaceNode, sql } = scene

          for (const [name, holdUp] of Object.entries(places)) {
            const release = yield* holdUp(scene)
            const monitor = yield* overdue(scene, name)
            yield* someoneWaits(sql)
            yield* replaceNode(release)
            yield* assertToldOnce(scene, monitor)
          }

          // After the send: the message is there, and the node never hears of it.
          const answer = yield* holdAnswers
          const sent = hookCalls()
          const unanswered = yield* overdue(scene, "without an answer")
          yield* eventually("a message", async () => hookCalls() > sent, withinMs)
          yield* replaceNode(Effect.andThen(answer, endLeases))
          yield* assertToldOnce(scene, unanswered)

          // Before the record: it hears of it, and cannot write it down.
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
          yield* assertToldOnce(scene, unrecorded)

          // Frozen with a message under way, while another node goes on. Then it wakes up.
          const frozen = scene.node()
          const answerFrozen = yield* holdAnswers
          const atFreeze = hookCalls()
          const watched = yield* overdue(scene, "beside a frozen node")
          yield* eventually("a third message", async () => hookCalls() > atFreeze, withinMs)
          frozen.kill("SIGSTOP")
          yield* answerFrozen
          scene.use(yield* scene.start)
          yield* endLeases
          yield* assertToldOnce(scene, watched)
          frozen.kill("SIGCONT")
          const after = yield* overdue(scene, "beside a thawed node")
          yield* assertToldOnce(scene, after)
          assert.lengthOf(scene.toldOf(watched.id), 2)

          // The database restarts while both nodes run.
          yield* postgres.crash
          yield* postgres.start
          yield* eventually(
            "the database",
            async () => (await call(scene.node(), "GET", "/v1/ready")).status === 200
          )
          yield* assertToldOnce(scene, yield* overdue(scene, "after a restart"))
        }),
      { timeout: 300_000 }
    )
  }
)
