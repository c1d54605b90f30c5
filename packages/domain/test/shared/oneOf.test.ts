import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, SchemaIssue } from "effect"
import { oneOf } from "../../src/shared/oneOf.ts"

const Size = oneOf(["small", "large"], { identifier: "Size", description: "How much fits." })

describe("one of some words", () => {
  it.effect("says which, where it is none of them", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Schema.decodeUnknownEffect(Schema.Array(Size))(["huge"]))
      const { issues } = SchemaIssue.makeFormatterStandardSchemaV1()(error.issue)
      assert.deepStrictEqual(issues, [{ path: [0], message: 'Expected "small" | "large"' }])
    })
  )
})
