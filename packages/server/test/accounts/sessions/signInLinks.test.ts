import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, type Member, statusAndError, password, randomIp, signUp } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { linkTokenFor } from "../email/linkTokenFor.ts"
import { panelPageHeaders, publicUrl } from "../oidc/identityProvider.ts"

const newPassword = "another long password"

const signInWith = (token: string) =>
  ask("POST", "/panel/link", {
    body: { token },
    headers: { ...panelPageHeaders, "x-forwarded-for": randomIp() }
  })

layer(testAppLayer({ publicUrl }))("a sign-in link of the operator", (it) => {
  it.effect("signs in once", () =>
    Effect.gen(function* () {
      const token = yield* linkTokenFor("sign in", yield* signUp())
      const signedIn = yield* signInWith(token)
      assert.strictEqual(signedIn.status, 200, signedIn.text)
      assert.strictEqual(statusAndError(yield* signInWith(token)), "401 invalid_link")
    })
  )

  it.effect("does not work after the password has changed", () =>
    Effect.gen(function* () {
      const change = ({ access_token }: Member) =>
        ask("POST", "/v1/auth/password", {
          token: access_token,
          body: { current_password: password, new_password: newPassword }
        })
      const reset = (member: Member) =>
        Effect.flatMap(Effect.orDie(linkTokenFor("password reset", member)), (token) =>
          ask("POST", "/v1/auth/password/reset", { body: { token, new_password: newPassword } })
        )
      for (const renew of [change, reset]) {
        const member = yield* signUp()
        const token = yield* linkTokenFor("sign in", member)
        assert.isBelow((yield* renew(member)).status, 300)
        assert.strictEqual(statusAndError(yield* signInWith(token)), "401 invalid_link")
      }
    })
  )
})
