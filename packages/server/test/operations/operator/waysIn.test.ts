// @tags processes long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sendCommand } from "../../../src/controlSocket.ts"
import { makeAuthenticator } from "../../accounts/passkeys/authenticator.ts"
import {
  destinationOf,
  panelPageHeaders,
  publicUrl,
  refreshPanelSession,
  sessionCookieOf,
  signInAs,
  TestProvider,
  TestProviderLayer
} from "../../accounts/oidc/identityProvider.ts"
import { createDataDirectory } from "../../support/createDataDirectory.ts"
import { ask, statusAndError } from "../../support/http.ts"
import { eventually, startServer } from "../../support/ServerProcess.ts"
import { TestApp } from "../../support/TestApp.ts"

const email = "ada@example.com"

/** Opens the panel with a token that the operator created. */
const signInWith = (token: string) =>
  ask("POST", "/panel/link", { body: { token }, headers: panelPageHeaders })

const addPasskey = Effect.fnUntraced(function* (cookie: string) {
  const post = (path: string, body: object) =>
    ask("POST", `/panel/session/passkeys/${path}`, {
      body,
      headers: { ...panelPageHeaders, cookie }
    })
  const { body: begun } = yield* post("options", {})
  const response = makeAuthenticator().register({
    origin: publicUrl,
    rpId: new URL(publicUrl).hostname,
    challenge: begun.options.challenge
  })
  return statusAndError(
    yield* post("add", { challenge: begun.challenge, response, name: "Laptop" })
  )
})

describe("npm run account, with PASSWORD_LOGIN=off", () => {
  it.live(
    "lets people in, lists their ways in and removes them",
    () =>
      Effect.gen(function* () {
        const { issuer, people } = yield* TestProvider
        const DATA_DIR = yield* createDataDirectory("ways-in")
        const server = yield* startServer({
          DATA_DIR,
          RUNNER: "off",
          PUBLIC_URL: publicUrl,
          PASSWORD_LOGIN: "off",
          OIDC_ISSUER: issuer,
          OIDC_CLIENT_ID: "scheduling",
          OIDC_CLIENT_SECRET: "a secret of the client"
        })
        const app = { url: server.url, otherUrl: server.url, logs: [] }
        const account = (...words: ReadonlyArray<string>) =>
          Effect.map(
            Effect.promise(() => sendCommand(DATA_DIR, words)),
            ({ text }) => text
          )
        yield* eventually(
          "the socket",
          () =>
            sendCommand(DATA_DIR, ["list"]).then(
              ({ ok }) => ok,
              () => false
            ),
          10_000
        )
        yield* Effect.gen(function* () {
          const [first = ""] = (yield* account("create", email)).split("\n")
          assert.strictEqual(yield* account("ways-in", email), `${email} has no way to sign in.`)
          assert.match(yield* account("reset-link", email), /Use sign-in-link/)
          assert.match(yield* account("unlink", email), /has no identity/)
          assert.match(yield* account("remove-passkeys", email), /has no passkey/)

          const [token = ""] = (yield* account("sign-in-link", email)).split("\n")
          assert.strictEqual(statusAndError(yield* signInWith(first)), "401 invalid_link")
          const signedIn = yield* signInWith(token)
          assert.strictEqual(signedIn.status, 200, signedIn.text)
          assert.strictEqual(statusAndError(yield* signInWith(token)), "401 invalid_link")
          const sessions = yield* ask("GET", "/v1/auth/sessions", {
            token: signedIn.body.access_token
          })
          assert.strictEqual(sessions.body.data[0].began_with, "link")
          const cookie = sessionCookieOf(signedIn)
          assert.strictEqual(yield* addPasskey(cookie), "200")

          // Without this step, the first sign-in at the identity provider would take over the
          // account.
          const [link = ""] = (yield* account("verify-link", email)).split("\n")
          const verified = yield* ask("POST", "/v1/auth/email/verify", { body: { token: link } })
          assert.strictEqual(statusAndError(verified), "204")
          for (const subject of ["one", "two"]) {
            people.set(subject, { email, email_verified: true })
          }
          const linked = yield* signInAs("one")
          assert.strictEqual(destinationOf(linked), "/")
          assert.strictEqual(
            yield* account("ways-in", email),
            `passkey "Laptop"\nidentity "one" at ${issuer}`
          )
          assert.strictEqual(
            destinationOf(yield* signInAs("two")),
            "/sign-in?problem=linked_otherwise"
          )
          assert.match(yield* account("unlink", email), /identities of .* were removed/)
          assert.strictEqual((yield* refreshPanelSession(sessionCookieOf(linked))).status, 401)
          assert.strictEqual(destinationOf(yield* signInAs("two")), "/")

          assert.match(yield* account("remove-passkeys", email), /^1 passkeys/)
          assert.strictEqual(yield* account("ways-in", email), `identity "two" at ${issuer}`)
        }).pipe(Effect.provideService(TestApp, app))
      }).pipe(Effect.provide(TestProviderLayer)),
    120_000
  )
})
