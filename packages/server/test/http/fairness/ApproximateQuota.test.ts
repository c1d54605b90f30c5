import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { ApproximateQuota } from "../../../src/http/fairness/ApproximateQuota.ts"

it.effect("permits are counted once per hundredth of what is left, and the last hundred each", () =>
  Effect.gen(function* () {
    const permits = new ApproximateQuota()
    let taken = 0
    let counts = 0
    const count = Effect.sync(() => {
      counts++
      return 1_000 - taken
    })
    while (yield* permits.take("a workspace", count)) taken++
    assert.strictEqual(taken, 1_000)
    assert.isBelow(counts, 400)
    const before = counts
    assert.isTrue(yield* permits.take("another", Effect.succeed(1)))
    assert.isFalse(yield* permits.take("a workspace", count))
    assert.strictEqual(counts, before + 1)
  })
)
