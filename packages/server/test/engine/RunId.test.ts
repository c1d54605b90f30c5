import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { firstIdAt, makeRunId, timeOfId } from "../../src/engine/RunId.ts"

const now = Date.UTC(2026, 10, 21, 9)
const ahead = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 366 * 86_400_000 }))

describe("the id of a run", () => {
  it("is a UUID v7", () => {
    assert.match(
      makeRunId(now, now),
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    )
  })

  it.prop("carries the time at which the run is due", [ahead], ([offset]) => {
    const id = makeRunId(now + offset, now)
    assert.strictEqual(timeOfId(id), now + offset)
    assert.isTrue(id >= firstIdAt(now + offset) && id < firstIdAt(now + offset + 1))
  })

  it.prop("is at most an hour old, however late the run is", [ahead], ([age]) => {
    assert.strictEqual(timeOfId(makeRunId(now - age, now)), now - Math.min(age, 3_600_000))
  })

  it("differs between runs that are due at the same time", () => {
    const ids = Array.from({ length: 1_000 }, () => makeRunId(now, now))
    assert.strictEqual(new Set(ids).size, 1_000)
  })
})
