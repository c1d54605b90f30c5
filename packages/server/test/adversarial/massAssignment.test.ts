import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { outcome } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { askCalmly, atOnce, bodyWith } from "./calmly.ts"
import { endpoints, propertiesOf, resolved, schemas } from "./contract.ts"
import { changes, everything } from "./everything.ts"
import { Settled } from "./Settled.ts"

const withBody = endpoints.filter(({ schema }) => schema !== undefined)

layer(Settled.layer.pipe(Layer.provideMerge(testAppLayer())))("A body", (it) => {
  it.effect.each(withBody)(
    "sets nothing that is not the caller's to set: $method $path",
    (endpoint) =>
      Effect.gen(function* () {
        const { example = {}, method, schema } = endpoint
        const { member, pathOf } = yield* Settled
        const path = pathOf(endpoint)
        const token = member.access_token
        const sql = yield* SqlClient.SqlClient
        const columns = yield* sql<{ name: string }>`
          SELECT DISTINCT column_name AS name
          FROM information_schema.columns
          WHERE table_schema = 'public'`
        const own = new Set(propertiesOf(schema))
        const others = new Set([
          ...columns.map(({ name }) => name),
          ...Object.values(schemas).flatMap(propertiesOf),
          "isAdmin",
          "is_admin",
          "roles",
          "owner",
          "owner_id",
          "permissions",
          "$set",
          "__proto__"
        ])
        assert.containsSubset(
          [...others],
          ["id", "workspace_id", "status", "created_by", "is_active", "key_hash", "role"]
        )
        const steps = schema?.["properties"] && Object(schema["properties"])["steps"]
        const inStep = new Set(propertiesOf(resolved(Object(steps?.items))))
        const before = yield* everything
        yield* Effect.forEach(
          others,
          Effect.fnUntraced(function* (field) {
            const value = JSON.stringify(field.endsWith("id") ? member.user_id : "active")
            const bodies = own.has(field) ? [] : [bodyWith(example, field, value)]
            if (steps !== undefined && !inStep.has(field)) {
              const step = bodyWith({ name: "a", url: "https://example.com/" }, field, value)
              bodies.push(bodyWith(example, "steps", `[${step}]`))
            }
            for (const body of bodies) {
              const answer = yield* askCalmly(method, path, { token, body })
              assert.strictEqual(outcome(answer), "422 validation_failed", field)
              const [issue] = answer.body.detail.issues
              assert.strictEqual(issue.path.at(-1), field)
              assert.strictEqual(issue.message, "Unknown field")
            }
          }),
          { concurrency: atOnce, discard: true }
        )
        assert.deepStrictEqual(changes(yield* everything, before), [])
      })
  )
})
