import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Gathered } from "../../../src/monitoring/heartbeat/Gathered.ts"

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

describe("what is gathered", () => {
  it.prop(
    "comes out once, each key in its order and in one batch at a time",
    [Steps],
    ([steps]) => {
      const gathered = new Gathered<One>(({ key }) => key, maxBatch)
      const underWay: Array<ReadonlyArray<One>> = []
      const out: Array<One> = []
      let added = 0
      const take = () => {
        const batch = gathered.take()
        assert.isAtMost(batch.length, maxBatch)
        const busy = new Set(underWay.flat().map(({ key }) => key))
        assert.isFalse(batch.some(({ key }) => busy.has(key)))
        out.push(...batch)
        underWay.push(batch)
      }
      const release = (from: number, count: number) => {
        for (const batch of underWay.splice(from, count)) gathered.release(batch)
      }
      for (const step of steps) {
        if (step === "take") take()
        else if ("add" in step) gathered.add({ key: step.add, ordinal: added++ })
        else release(step.release, 1)
      }
      release(0, underWay.length)
      while (gathered.hasFree()) {
        take()
        release(0, underWay.length)
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
