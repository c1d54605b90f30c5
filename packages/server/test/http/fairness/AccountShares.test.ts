import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AccountShares } from "../../../src/http/fairness/AccountShares.ts"
import { makeWaitPermits } from "../../../src/http/WaitingRequests.ts"

/** Derives the lane for an account that was registered from an address. */
const deriveLane = (address: number, account: number) => (BigInt(address) << 32n) | BigInt(account)

const takeAll = (shares: AccountShares, lane: bigint): number => {
  let taken = 0
  for (; shares.mayHold(lane); taken++) shares.change(lane, 1)
  return taken
}

describe("the capacity shares of accounts", () => {
  it("leave four fifths of an idle node to others", () => {
    assert.strictEqual(takeAll(new AccountShares(1_000), deriveLane(1, 1)), 200)
    assert.strictEqual(takeAll(new AccountShares(2_000), deriveLane(1, 1)), 400)
  })

  it("leave something to a newcomer, whatever twenty accounts hold", () => {
    const shares = new AccountShares(1_000)
    for (let nr = 1; nr <= 20; nr++) assert.isAbove(takeAll(shares, deriveLane(nr, nr)), 0)
    assert.isTrue(shares.mayHold(deriveLane(21, 21)))
    assert.isAbove(shares.free, 0)
  })

  it("leave half of an idle node to others, however many accounts one address has", () => {
    const shares = new AccountShares(1_000)
    for (let nr = 1; nr <= 1_000; nr++) takeAll(shares, deriveLane(1, nr))
    assert.strictEqual(shares.held, 500)
    assert.strictEqual(takeAll(shares, deriveLane(2, 1)), 100)
  })

  it("grow again when something is released", () => {
    const shares = new AccountShares(10)
    const lane = deriveLane(1, 1)
    assert.strictEqual(takeAll(shares, lane), 2)
    shares.change(lane, -1)
    assert.strictEqual(takeAll(shares, lane), 1)
    shares.change(lane, -1)
    shares.change(lane, -1)
    assert.strictEqual(shares.held, 0)
  })
})

describe("permits for those who wait", () => {
  it.effect("name the limit that is reached", () =>
    Effect.gen(function* () {
      const permits = makeWaitPermits({ all: 10, each: 2 })
      const lane = deriveLane(1, 1)
      const ids = ["a workspace", "a key"]
      assert.isTrue(yield* permits.take({ lane, ids }))
      assert.isTrue(yield* permits.take({ lane: deriveLane(2, 2), ids }))
      assert.strictEqual(permits.reachedLimit({ lane: deriveLane(3, 3), ids }), "each")
      assert.isTrue(yield* permits.take({ lane, ids: ["another workspace"] }))
      assert.strictEqual(permits.reachedLimit({ lane, ids: ["a third"] }), "account")
      assert.isFalse(yield* permits.take({ lane, ids: ["a third"] }))
      let nr = 4
      for (; yield* permits.take({ lane: deriveLane(nr, nr), ids: [] }); nr++);
      assert.strictEqual(permits.count(), 10)
      assert.strictEqual(permits.reachedLimit({ lane: deriveLane(nr, nr), ids: [] }), "node")
    }).pipe(Effect.scoped)
  )
})
