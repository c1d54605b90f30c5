import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, statusAndError, password, randomEmail, randomIp } from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { testAppLayer } from "../../support/TestApp.ts"

const register = (ip: string) =>
  ask("POST", "/v1/auth/register", {
    body: { email: randomEmail(), password },
    headers: { "x-forwarded-for": ip }
  })

layer(testAppLayer())("registration", (it) => {
  it.effect("is limited to 50 per address in 15 minutes, because each costs a hash", () =>
    Effect.gen(function* () {
      const ip = randomIp()
      const answers = yield* Effect.forEach(Array.from({ length: 51 }), () => register(ip), {
        concurrency: 8
      })
      const counts = Map.groupBy(answers, statusAndError)
      assert.strictEqual(counts.get("201")?.length, 50)
      const [refused] = counts.get("429 rate_limited") ?? []
      assert.strictEqual(refused?.headers.get("retry-after"), "900")

      assert.strictEqual(statusAndError(yield* register(randomIp())), "201")
      yield* leap("15 minutes")
      assert.strictEqual(statusAndError(yield* register(ip)), "201")
    })
  )
})
