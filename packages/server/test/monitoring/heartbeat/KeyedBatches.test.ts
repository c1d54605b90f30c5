import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { KeyedBatches } from "../../../src/monitoring/heartbeat/KeyedBatches.ts"

interface One {
  readonly key: string
  readonly ordinal: number
}

const maxBatch = 3

const Steps = Schema.Array(
  Schema.Union([
    Schema.Struct({ add: Schema.Literals(["a", "b", "c"]) }),
    Schema.Literal("take"),
    Schema.Struct({ release: Schema.Literals([0, 1, 2]) })
  ])
)

describe("KeyedBatches", () => {
  it.prop(
    "returns each item once, in order within its key, and each key in one batch at a time",
    [Steps],
    ([steps]) => {
      const batches = new KeyedBatches<One>(({ key }) => key, maxBatch)
      const inProgress: Array<ReadonlyArray<One>> = []
      const out: Array<One> = []
      let added = 0
      const take = () => {
        const batch = batches.take()
        assert.isAtMost(batch.length, maxBatch)
        const busy = new Set(inProgress.flat().map(({ key }) => key))
        assert.isFalse(batch.some(({ key }) => busy.has(key)))
        out.push(...batch)
        inProgress.push(batch)
      }
      const release = (from: number, count: number) => {
        for (const batch of inProgress.splice(from, count)) batches.release(batch)
      }
      for (const step of steps) {
        if (step === "take") take()
        else if ("add" in step) batches.add({ key: step.add, ordinal: added++ })
        else release(step.release, 1)
      }
      release(0, inProgress.length)
      while (batches.hasFree()) {
        take()
        release(0, inProgress.length)
      }
      assert.lengthOf(out, added)
      for (const ofKey of Map.groupBy(out, ({ key }) => key).values()) {
        const ordinals = ofKey.map(({ ordinal }) => ordinal)
        assert.deepStrictEqual(
          ordinals,
          ordinals.toSorted((one, other) => one - other)
        )
      }
    },
    { arbitrary: { runs: 500 } }
  )
})
