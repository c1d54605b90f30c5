import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { laneOf } from "../../../src/accounts/auth/laneOf.ts"
import { Secrets } from "../../../src/core/Secrets.ts"

describe("laneOf", () => {
  it.effect("gives accounts of one public address one share, and each a lane", () =>
    Effect.gen(function* () {
      const [key] = (yield* Secrets).keys("lane")
      const shareOf = (user: string, ip: string | null) => laneOf(key, user, ip) >> 32n
      assert.strictEqual(shareOf("a", "198.41.0.4"), shareOf("b", "198.41.0.4"))
      assert.notStrictEqual(laneOf(key, "a", "198.41.0.4"), laneOf(key, "b", "198.41.0.4"))
      assert.notStrictEqual(shareOf("a", "198.41.0.4"), shareOf("a", "198.41.0.5"))
      assert.strictEqual(shareOf("a", "2001:500:2::c"), shareOf("b", "2001:500:2::1:d"))
      assert.notStrictEqual(shareOf("a", "2001:500:2::c"), shareOf("a", "2001:500:2:1::c"))
      for (const ip of [null, "127.0.0.1", "10.0.0.7", "fd00::1", "not an address"]) {
        assert.notStrictEqual(shareOf("a", ip), shareOf("b", ip), String(ip))
      }
      for (let user = 0; user < 100; user++) {
        const lane = laneOf(key, String(user), null)
        assert.strictEqual(BigInt.asIntN(64, lane), lane)
      }
    }).pipe(
      Effect.provide(Secrets.layerFrom(Redacted.make("a secret of tests that is long enough")))
    )
  )
})
