// @tags slow
import { assert, layer } from "@effect/vitest"
import { Array, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { statusAndError } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { askWithinLimits, bodyWith } from "./support/askWithinLimits.ts"
import { endpoints, propertiesOf, resolveSchema, schemas } from "./support/contract.ts"
import { changedRows, readAllRows } from "./support/readAllRows.ts"
import { SharedOwner } from "./support/SharedOwner.ts"

interface Issue {
  readonly path: Array<string>
  readonly code: string
}

/** The number of unknown fields per request. A response names at most a hundred of them. */
const atATime = 50

const withBody = endpoints.filter(({ schema }) => schema !== undefined)

layer(SharedOwner.layer.pipe(Layer.provideMerge(testAppLayer())))("A body", (it) => {
  it.effect.each(withBody)("sets no field that clients must not set: $method $path", (endpoint) =>
    Effect.gen(function* () {
      const { example = {}, method, schema } = endpoint
      const { member, pathOf } = yield* SharedOwner
      const path = yield* pathOf(endpoint)
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
      const inStep = new Set(propertiesOf(resolveSchema(Object(steps?.items))))
      const before = yield* readAllRows
      const withFields = (record: object, fields: ReadonlyArray<string>) => {
        const added = fields.map((field) => {
          const value = field.endsWith("id") ? member.user_id : "active"
          return `${JSON.stringify(field)}:"${value}"`
        })
        return `{${[...added, JSON.stringify(record).slice(1, -1)].filter(Boolean).join()}}`
      }
      const assertUnknown = Effect.fnUntraced(function* (
        known: ReadonlySet<string>,
        bodyOf: (fields: ReadonlyArray<string>) => string
      ) {
        const unknown = [...others].filter((field) => !known.has(field))
        for (const fields of Array.chunksOf(unknown, atATime)) {
          const body = bodyOf(fields)
          const answer = yield* askWithinLimits(method, path, { token, body })
          assert.strictEqual(statusAndError(answer), "422 validation_failed")
          const issues: ReadonlyArray<Issue> = answer.body.detail.issues
          const refused = issues.flatMap(({ code, path }) =>
            code === "unknown_field" ? path.slice(-1) : []
          )
          assert.includeMembers(refused, fields)
        }
      })
      yield* assertUnknown(own, (fields) => withFields(example, fields))
      if (steps !== undefined) {
        const step = { name: "a", url: "https://example.com/" }
        yield* assertUnknown(inStep, (fields) =>
          bodyWith(example, "steps", `[${withFields(step, fields)}]`)
        )
      }
      assert.deepStrictEqual(changedRows(yield* readAllRows, before), [])
    })
  )
})
