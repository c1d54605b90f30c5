import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { deriveLane } from "../../../src/accounts/auth/deriveLane.ts"
import { Secrets } from "../../../src/core/Secrets.ts"

describe("deriveLane", () => {
  it.effect("gives accounts of one public address different lanes with the same upper half", () =>
    Effect.gen(function* () {
      const [key] = (yield* Secrets).keys("lane")
      const upperHalf = (user: string, ip: string | null) => deriveLane(key, user, ip) >> 32n
      assert.strictEqual(upperHalf("a", "198.41.0.4"), upperHalf("b", "198.41.0.4"))
      assert.notStrictEqual(deriveLane(key, "a", "198.41.0.4"), deriveLane(key, "b", "198.41.0.4"))
      assert.notStrictEqual(upperHalf("a", "198.41.0.4"), upperHalf("a", "198.41.0.5"))
      assert.strictEqual(upperHalf("a", "2001:500:2::c"), upperHalf("b", "2001:500:2::1:d"))
      assert.notStrictEqual(upperHalf("a", "2001:500:2::c"), upperHalf("a", "2001:500:2:1::c"))
      for (const ip of [null, "127.0.0.1", "10.0.0.7", "fd00::1", "not an address"]) {
        assert.notStrictEqual(upperHalf("a", ip), upperHalf("b", ip), String(ip))
      }
      for (let user = 0; user < 100; user++) {
        const lane = deriveLane(key, String(user), null)
        assert.strictEqual(BigInt.asIntN(64, lane), lane)
      }
    }).pipe(
      Effect.provide(Secrets.layerFrom(Redacted.make("a secret of tests that is long enough")))
    )
  )
})
