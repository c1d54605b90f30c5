import { assert, layer } from "@effect/vitest"
import { Effect, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { pollUntil } from "../../billing/support/fixture.ts"
import { signUp } from "../../support/http.ts"
import { startNode, TestApp, testAppLayer, testConfig } from "../../support/TestApp.ts"
import { heartbeatClientOf, ping } from "../monitors.ts"

const nodeWithNewSecret = Effect.gen(function* () {
  const logs: Array<string> = []
  const url = yield* startNode({
    ...testConfig,
    appSecret: Redacted.make("the secret of the day after, thirty-two bytes"),
    previousAppSecrets: testConfig.appSecret === undefined ? [] : [testConfig.appSecret]
  }).pipe(
    Effect.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => void logs.push(line))]))
  )
  return TestApp.of({ url, otherUrl: url, logs })
})

const refuseUpdates = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.acquireRelease(
    Effect.andThen(
      sql.unsafe(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'refused by the test'; END $$`),
      sql.unsafe(`
        CREATE TRIGGER refuse BEFORE UPDATE ON ping_urls
        FOR EACH ROW EXECUTE FUNCTION refuse()`)
    ),
    () => Effect.orDie(sql.unsafe("DROP FUNCTION IF EXISTS refuse CASCADE"))
  )
})

layer(testAppLayer())("a ping URL created before APP_SECRET changed", (it) => {
  it.effect("works even if renewing it fails, and the failure is logged", () =>
    Effect.gen(function* () {
      const heartbeats = heartbeatClientOf(yield* signUp())
      const { ping_url } = (yield* heartbeats.create()).body
      const node = yield* nodeWithNewSecret
      yield* Effect.gen(function* () {
        yield* refuseUpdates
        assert.strictEqual((yield* ping(ping_url)).status, 200)
        assert.strictEqual((yield* ping(ping_url)).status, 200)
      }).pipe(Effect.scoped, Effect.provideService(TestApp, node))
      // The ping is answered before the URL is renewed.
      const notifications = yield* pollUntil(
        Effect.sync(() => node.logs.filter((line) => line.includes("renewing ping URLs: failed"))),
        ({ length }) => length > 0
      )
      assert.lengthOf(notifications, 1)
    })
  )
})
