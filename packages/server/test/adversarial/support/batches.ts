import { assert } from "@effect/vitest"
import type { Answer } from "../../support/http.ts"

/**
 * Asserts that a batch's response is a 200, and that each item is rejected as a separate request to
 * create it would be.
 */
export const assertEachRefused = ({ body, status, text }: Answer, count: number) => {
  assert.strictEqual(status, 200, text)
  assert.lengthOf(body.items, count)
  for (const { data, error, status } of body.items) {
    assert.strictEqual(status, 422, text)
    assert.isUndefined(data)
    assert.strictEqual(error.detail.error, "validation_failed", text)
  }
}
