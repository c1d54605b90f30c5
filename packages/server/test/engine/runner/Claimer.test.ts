import { assert, describe, it } from "@effect/vitest"
import { sleepMs } from "../../../src/engine/runner/Claimer.ts"

const look = { horizonMs: 12_000, pollMs: 500 }

describe("a node that polls for runs", () => {
  it.each([
    ["rests until it has to look again where no task has a schedule", null, 500],
    ["does so too where the next fire is far away", 3_600_000, 500],
    ["rests until the next fire enters the look-ahead", 12_300, 300],
    ["gathers what fires soon", 12_010, 100],
    ["gathers what could have fired by now", 11_000, 100]
  ])("%s", (_, nextFireMs, restsMs) => {
    assert.strictEqual(sleepMs(nextFireMs, look), restsMs)
  })
})
