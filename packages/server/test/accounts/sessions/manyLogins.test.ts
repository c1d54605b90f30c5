// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  logIn,
  statusAndError,
  randomIp,
  signUp,
  times,
  runConcurrently
} from "../../support/http.ts"
import { realHashes, testAppLayer } from "../../support/TestApp.ts"

const from = (ip = randomIp()) => ({ headers: { "x-forwarded-for": ip } })

layer(testAppLayer({}, realHashes))("login", (it) => {
  it.effect("works while other users log in as often as they can", () =>
    Effect.gen(function* () {
      const [loud, quiet] = [yield* signUp(), yield* signUp()]
      const addresses = times(3, randomIp)
      const flood = runConcurrently(
        times(100, (index) => logIn(loud.email, from(addresses[index % 3])))
      )
      const flooding = yield* Effect.forkChild(flood, { startImmediately: true })
      const answers = yield* Effect.forEach(times(5, randomIp), (ip) =>
        logIn(quiet.email, from(ip))
      )
      assert.deepStrictEqual(
        answers.map(statusAndError),
        times(5, () => "200")
      )
      const flooded = (yield* Fiber.join(flooding)).map(statusAndError)
      assert.includeMembers(["200", "429 rate_limited"], flooded)
    })
  )
})
