// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { startNode, testConfig } from "../support/TestApp.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { checkValueOf, testSecret } from "../support/testSecret.ts"
import { runConcurrently } from "../support/http.ts"

const secretNamed = (name: string) => Redacted.make(`the ${name} secret, thirty-two bytes and more`)

const [first, second, third] = [testSecret, secretNamed("second"), secretNamed("third")]

/** Starts a node with these secrets. Returns `started`, or why the node does not start. */
const start = (
  [appSecret, ...previousAppSecrets]: readonly [Redacted.Redacted, ...Array<Redacted.Redacted>],
  config: Partial<typeof testConfig> = {}
) =>
  startNode({ ...testConfig, appSecret, previousAppSecrets, ...config }).pipe(
    Effect.result,
    Effect.map(Result.match({ onSuccess: () => "started", onFailure: ({ message }) => message }))
  )

/** Resets the database, as if no node had ever used it. */
const forget = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM app_secret`
})

const refusal = /^APP_SECRET is not the secret of this database/

layer(TestDatabaseLayer, { excludeTestServices: true })("a node on a used database", (it) => {
  it.effect("starts only with the secret of the first node", () =>
    Effect.gen(function* () {
      yield* forget
      assert.strictEqual(yield* start([first]), "started")
      assert.strictEqual(yield* start([first]), "started")
      const refused = yield* start([second])
      assert.match(refused, refusal)
      assert.include(refused, "put the old one into APP_SECRET_PREVIOUS")
      assert.include(refused, `APP_SECRET_LOST=${checkValueOf(first)}`)
      assert.notInclude(refused, Redacted.value(second))
      assert.match(yield* start([second, third]), refusal)
      assert.strictEqual(yield* start([first]), "started")
    })
  )

  it.effect("rotates the secret, before and after the old one is removed", () =>
    Effect.gen(function* () {
      yield* forget
      assert.strictEqual(yield* start([first]), "started")
      // Nodes are given the new secret one after another. Initially, some use it only for
      // verification.
      assert.strictEqual(yield* start([first, second]), "started")
      assert.strictEqual(yield* start([second, first]), "started")
      assert.match(yield* start([first]), refusal)
      assert.strictEqual(yield* start([first, second]), "started")
      assert.strictEqual(yield* start([second, first]), "started")
      assert.strictEqual(yield* start([second, first]), "started")
      assert.strictEqual(yield* start([second]), "started")
      assert.match(yield* start([first]), refusal)
      assert.strictEqual(yield* start([third, first, second]), "started")
    })
  )

  it.effect("starts without a lost secret if APP_SECRET_LOST names it", () =>
    Effect.gen(function* () {
      yield* forget
      assert.strictEqual(yield* start([first]), "started")
      const lost = { appSecretLost: checkValueOf(first) }
      assert.match(yield* start([second], { appSecretLost: "another" }), refusal)
      assert.strictEqual(yield* start([second], lost), "started")
      assert.strictEqual(yield* start([second]), "started")
      // `APP_SECRET_LOST` names one secret. If it remains set, it does not hide later mistakes.
      assert.match(yield* start([third], lost), refusal)
    })
  )

  it.effect("is the only node that starts if several nodes have different secrets", () =>
    Effect.gen(function* () {
      yield* forget
      const outcomes = yield* runConcurrently(
        [first, second, third].map((secret) => start([secret]))
      )
      assert.lengthOf(
        outcomes.filter((outcome) => outcome === "started"),
        1
      )
      for (const outcome of outcomes.filter((one) => one !== "started")) {
        assert.match(outcome, refusal)
      }
    })
  )
})
