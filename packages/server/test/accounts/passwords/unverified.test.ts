import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Mails, waitForMail, testAppWithMail } from "../../notifications/support/withMail.ts"
import { eventually } from "../../engine/runner/support/tasks.ts"
import { ask, statusAndError, randomIp, signUp } from "../../support/http.ts"
import { leap } from "../../support/leap.ts"

const forgot = (email: string) =>
  ask("POST", "/v1/auth/password/forgot", {
    body: { email },
    headers: { "x-forwarded-for": randomIp() }
  })

layer(testAppWithMail)("a forgotten password", (it) => {
  it.effect("causes at most ten mails a day to an unverified address", () =>
    Effect.gen(function* () {
      const mails = yield* Mails
      const { email } = yield* signUp()
      const sent = () => mails.filter(({ to }) => to.includes(email)).length
      // The first email contains the registration link.
      for (const expected of [6, 10, 10]) {
        for (let asked = 0; asked < 5; asked++) {
          assert.strictEqual(statusAndError(yield* forgot(email)), "204")
        }
        yield* TestClock.withLive(eventually(Effect.sync(sent), (count) => count >= expected))
        yield* leap("16 minutes")
      }
      const other = yield* signUp()
      yield* forgot(other.email)
      yield* waitForMail(other.email, "Set a new password")
      assert.strictEqual(sent(), 10)
    })
  )
})
