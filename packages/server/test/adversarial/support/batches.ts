import { assert } from "@effect/vitest"
import type { Answer } from "../../support/http.ts"

/** Asserts that a batch gets a 200, and each of its items the rejection of a separate create. */
export const assertEachRefused = ({ body, status, text }: Answer, count: number) => {
  assert.strictEqual(status, 200, text)
  assert.lengthOf(body.items, count)
  for (const { data, error, status } of body.items) {
    assert.strictEqual(status, 422, text)
    assert.isUndefined(data)
    assert.strictEqual(error.detail.error, "validation_failed", text)
  }
}
