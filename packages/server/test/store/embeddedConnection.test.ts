// @tags stores
import { PgClient, PgProtocol } from "@effect/sql-pg"
import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Context, Deferred, Effect, Exit, Fiber, Layer, Schema, Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { Duplex } from "node:stream"
import { maxUnreadResultBytes } from "../../src/store/embedded/channel.ts"
import { Connection } from "../../src/store/embedded/Connection.ts"
import { openEmbeddedPostgres } from "../../src/store/embedded/EmbeddedPostgres.ts"
import { InputReader, queryMessage, syncMessage } from "../../src/store/embedded/protocol.ts"
import { clientOf, eventually } from "./support/embedded.ts"

class Connect extends Context.Service<Connect, () => Duplex>()(
  "@scheduling/server/test/embeddedConnection/Connect"
) {
  static readonly layer = Layer.effect(Connect, openEmbeddedPostgres({ dataDir: undefined }))
}

const one = PgClient.PgClient.use((sql) => sql`SELECT 1 AS n`)

/**
 * Starts a transaction with a statement that takes this long. Returns the transaction, and a signal
 * that the statement is running.
 */
const inStatement = Effect.fnUntraced(function* (seconds: number) {
  const sql = yield* SqlClient.SqlClient
  const begun = yield* Deferred.make<void>()
  const fiber = yield* sql`SELECT 1`.pipe(
    Effect.andThen(Deferred.succeed(begun, undefined)),
    Effect.andThen(sql`SELECT pg_sleep(${seconds}::float8)`),
    sql.withTransaction,
    Effect.exit,
    Effect.forkChild
  )
  yield* Deferred.await(begun)
  return fiber
})

const startup = Uint8Array.of(0, 0, 0, 9, 0, 3, 0, 0, 0)

describe("the input reader", () => {
  it.effect.prop(
    "cuts a stream into whole messages, however its bytes are chunked",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })))],
    ([sizes]) =>
      Effect.sync(() => {
        const messages = Buffer.concat([
          queryMessage("SELECT 1"),
          syncMessage,
          queryMessage(""),
          queryMessage("é".repeat(30))
        ])
        const stream = Buffer.concat([startup, messages, Uint8Array.of(0x58, 0, 0, 0, 4)])
        const reader = new InputReader()
        const inputs = []
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const size = sizes[turn % Math.max(sizes.length, 1)] ?? stream.length
          inputs.push(...reader.push(stream.subarray(at, at + size)))
          at += size
        }
        assert.deepStrictEqual(inputs[0], { _tag: "Startup", packet: Buffer.from(startup) })
        assert.deepStrictEqual(inputs.at(-1), { _tag: "Terminate" })
        const between = inputs
          .slice(1, -1)
          .map((input) => (input._tag === "Messages" ? input.bytes : assert.fail(input._tag)))
        assert.deepStrictEqual(Buffer.concat(between), messages)
      })
  )

  it("rejects bytes that are not a message of PostgreSQL", () => {
    assert.throws(() => new InputReader().push(Buffer.from("GET / HTTP/1.1\r\n\r\n")))
    const reader = new InputReader()
    reader.push(startup)
    assert.throws(() => reader.push(Uint8Array.of(0x51, 0, 0, 0, 3)))
    assert.throws(() => reader.push(Uint8Array.of(0x51, 0xff, 0xff, 0xff, 0xff)))
  })
})

layer(Connect.layer, {
  excludeTestServices: true
})("a connection to the embedded store", (it) => {
  it.effect("ends its transaction, settings and temporary tables when it closes", () =>
    Effect.gen(function* () {
      const stream = yield* Connect
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE kept (n int)`
        yield* sql`CREATE TEMPORARY TABLE passing (n int)`
        yield* sql`SET statement_timeout = 1234`
        yield* sql`SELECT pg_advisory_lock(7)`
      }).pipe(Effect.provide(clientOf(stream)))
      const open: Array<Duplex> = []
      const recorded = () => {
        const connection = stream()
        open.push(connection)
        return connection
      }
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const settings = yield* sql<{ statement_timeout: string }>`SHOW statement_timeout`
        assert.strictEqual(settings[0]?.statement_timeout, "0")
        assert.strictEqual((yield* sql`SELECT FROM pg_class WHERE relname = 'passing'`).length, 0)
        assert.strictEqual((yield* sql`SELECT FROM pg_locks WHERE locktype = 'advisory'`).length, 0)
        const torn = sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`INSERT INTO kept VALUES (1)`
            for (const connection of open) connection.destroy()
            yield* sql`INSERT INTO kept VALUES (2)`
          })
        )
        assert.isTrue(Exit.isFailure(yield* Effect.exit(torn)))
        assert.strictEqual((yield* sql`SELECT FROM kept`).length, 0)
      }).pipe(Effect.provide(clientOf(recorded)))

      const base = { stream, maxConnections: 1, username: "postgres" }
      const options = { ...base, applicationName: "o'clock" }
      const name = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql<{ application_name: string }>`SHOW application_name`
      })
      const rows = yield* Effect.provide(name, PgClient.layer(options))
      assert.strictEqual(rows[0]?.application_name, "o'clock", "the startup packet's settings")
      const wrong = { ...options, startupParameters: { no_such_setting: "1" } }
      const error = yield* Effect.flip(Effect.provide(name, PgClient.layer(wrong)))
      assert.include(String(error.reason.cause), "no_such_setting")
      assert.strictEqual((yield* Effect.provide(name, PgClient.layer(options))).length, 1)
    })
  )

  it.effect("stalls the store while its client does not read, until the client leaves", () =>
    Effect.gen(function* () {
      const stream = yield* Connect
      const deaf = stream()
      assert.instanceOf(deaf, Connection)
      deaf.write(PgProtocol.encodeStartupMessage({ user: "postgres" }))
      deaf.write(queryMessage("SELECT repeat('x', 1000000) FROM generate_series(1, 40)"))
      yield* eventually(Effect.sync(() => deaf.unreadBytes > maxUnreadResultBytes))
      const waiting = yield* Effect.forkChild(Effect.provide(one, clientOf(stream)))
      deaf.read()
      yield* eventually(Effect.sync(() => deaf.unreadBytes > maxUnreadResultBytes))
      assert.isAtMost(deaf.unreadBytes, maxUnreadResultBytes + 64 * 1024)
      assert.isUndefined(waiting.pollUnsafe())
      deaf.destroy()
      assert.deepStrictEqual(yield* Fiber.join(waiting), [{ n: 1 }])
    })
  )
})

describe("a store with long statements", { timeout: 60_000 }, () => {
  it.live("survives an interrupted statement, and closes in time during an endless statement", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const opening = openEmbeddedPostgres({ dataDir: undefined, closeWithin: "100 millis" })
      const client = yield* Layer.build(clientOf(yield* Scope.provide(opening, scope)))
      yield* Effect.gen(function* () {
        yield* Fiber.interrupt(yield* inStatement(0.1))
        assert.deepStrictEqual(yield* one, [{ n: 1 }])
        const endless = yield* inStatement(600)
        const start = yield* Clock.currentTimeMillis
        yield* Scope.close(scope, Exit.void)
        assert.isBelow((yield* Clock.currentTimeMillis) - start, 15_000)
        assert.isTrue(Exit.isFailure(yield* Fiber.join(endless)))
      }).pipe(Effect.provide(client))
    })
  )
})
