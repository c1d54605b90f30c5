import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SignJWT, UnsecuredJWT } from "jose"
import type { IncomingMessage, ServerResponse } from "node:http"
import {
  addProviderUser,
  beginSignIn,
  destinationOf,
  refreshPanelSession,
  followRedirectBack,
  sessionCookieOf,
  signInAs,
  TestProvider,
  signInAtProvider,
  nodeWithProviderLayer
} from "./identityProvider.ts"

const rejected = "/sign-in?problem=provider_rejected"
const unavailable = "/sign-in?problem=provider_unavailable"

const json = (response: ServerResponse, body: object, status = 200) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

const isFor = (path: string, { url }: IncomingMessage) => url?.split("?")[0] === path

/**
 * Completes a sign-in while the provider's token endpoint sends this ID token. Its claims are valid
 * by default.
 */
const withIdToken = Effect.fnUntraced(function* (
  make: (claims: Readonly<Record<string, unknown>>) => Effect.Effect<string, never, TestProvider>
) {
  const provider = yield* TestProvider
  const { subject } = yield* addProviderUser()
  const { cookie, url } = yield* beginSignIn()
  const path = yield* signInAtProvider(url, subject)
  const now = Math.floor(Date.now() / 1000)
  const id_token = yield* make({
    iss: provider.issuer,
    aud: "scheduling",
    sub: subject,
    nonce: new URL(url).searchParams.get("nonce"),
    iat: now,
    exp: now + 60
  })
  const lie = (request: IncomingMessage, response: ServerResponse) => {
    if (isFor("/me", request)) {
      json(response, { sub: subject, email: `${subject}@example.com`, email_verified: true })
      return true
    }
    if (!isFor("/token", request)) return false
    json(response, { access_token: "an access token", token_type: "Bearer", id_token })
    return true
  }
  return destinationOf(yield* provider.during(lie, followRedirectBack(path, cookie)))
})

const signed = (
  change: Readonly<Record<string, unknown>>,
  header: Readonly<Record<string, unknown>> = {}
) =>
  withIdToken((claims) =>
    Effect.flatMap(TestProvider, ({ sign }) => sign({ ...claims, ...change }, header))
  )

layer(nodeWithProviderLayer())("an ID token", (it) => {
  it.effect("is accepted if it is honest", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* signed({}), "/")
    })
  )

  it.effect("is rejected for another issuer, audience, nonce or time", () =>
    Effect.gen(function* () {
      const now = Math.floor(Date.now() / 1000)
      const lies = [
        { iss: "https://id.example.com" },
        { aud: "another client" },
        { aud: ["scheduling", "another client"], azp: "another client" },
        { nonce: "another nonce" },
        { nonce: undefined },
        { exp: now - 120 },
        { iat: undefined },
        { sub: undefined }
      ]
      for (const lie of lies) assert.strictEqual(yield* signed(lie), rejected, JSON.stringify(lie))
    })
  )

  it.effect("is rejected with another algorithm, key or no signature", () =>
    Effect.gen(function* () {
      const byHmac = (claims: Readonly<Record<string, unknown>>) =>
        Effect.promise(() =>
          new SignJWT({ ...claims })
            .setProtectedHeader({ alg: "HS256" })
            .sign(Buffer.from("a secret of the client, which is longer than that"))
        )
      const unsigned = (claims: Readonly<Record<string, unknown>>) =>
        Effect.succeed(new UnsecuredJWT({ ...claims }).encode())
      const truncated = (claims: Readonly<Record<string, unknown>>) =>
        Effect.flatMap(TestProvider, ({ sign }) =>
          Effect.map(sign(claims), (token) => `${token.slice(0, -8)}AAAAAAAA`)
        )
      for (const make of [byHmac, unsigned, truncated]) {
        assert.strictEqual(yield* withIdToken(make), rejected)
      }
      assert.strictEqual(yield* signed({}, { kid: "unknown" }), rejected)
    })
  )
})

layer(nodeWithProviderLayer())("a response of the provider", (it) => {
  const returned = Effect.fnUntraced(function* (
    change: (query: URLSearchParams) => unknown,
    lie: (request: IncomingMessage, response: ServerResponse) => boolean = () => false
  ) {
    const { during } = yield* TestProvider
    const { subject } = yield* addProviderUser()
    const { cookie, url } = yield* beginSignIn()
    const back = new URL(yield* signInAtProvider(url, subject), "https://scheduling.test")
    change(back.searchParams)
    return destinationOf(
      yield* during(lie, followRedirectBack(back.pathname + back.search, cookie))
    )
  })

  it.effect("is rejected with another state, another issuer, or twice the same", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* returned(() => {}), "/")
      assert.strictEqual(yield* returned((query) => query.set("state", "another")), rejected)
      assert.strictEqual(yield* returned((query) => query.delete("state")), rejected)
      // The person was sent to a different provider instead, which is a mix-up attack.
      assert.strictEqual(
        yield* returned((query) => query.set("iss", "https://id.example.com")),
        rejected
      )
      assert.strictEqual(yield* returned((query) => query.delete("iss")), rejected)
      assert.strictEqual(yield* returned((query) => query.append("code", "another")), rejected)
      assert.strictEqual(yield* returned((query) => query.set("code", "another")), rejected)
    })
  )

  it.effect("is rejected if it is about another person", () =>
    Effect.gen(function* () {
      const lie = (request: IncomingMessage, response: ServerResponse) => {
        if (!isFor("/me", request)) return false
        json(response, { sub: "another", email: "victim@example.com", email_verified: true })
        return true
      }
      assert.strictEqual(yield* returned(() => {}, lie), rejected)
    })
  )

  it.effect("is given up if it is late, endless, broken or missing", () =>
    Effect.gen(function* () {
      const answers: ReadonlyArray<(response: ServerResponse) => unknown> = [
        () => undefined,
        (response) => response.destroy(),
        (response) => response.writeHead(503).end(),
        (response) => json(response, { error: "slow_down" }, 429),
        (response) => {
          response.writeHead(200, { "content-type": "application/json" })
          const timer = setInterval(() => response.write(" ".repeat(64 * 1024)), 1)
          response.on("close", () => clearInterval(timer))
        }
      ]
      for (const answer of answers) {
        const lie = (request: IncomingMessage, response: ServerResponse) => {
          if (isFor("/token", request)) answer(response)
          return isFor("/token", request)
        }
        assert.strictEqual(yield* returned(() => {}, lie), unavailable)
      }
      const moved = (request: IncomingMessage, response: ServerResponse) => {
        if (isFor("/token", request)) response.writeHead(307, { location: "/elsewhere" }).end()
        return isFor("/token", request)
      }
      assert.strictEqual(yield* returned(() => {}, moved), rejected)
    })
  )

  it.effect("is accepted immediately after the provider has changed its keys", () =>
    Effect.gen(function* () {
      const { rotateKeys } = yield* TestProvider
      const { subject } = yield* addProviderUser()
      assert.strictEqual(destinationOf(yield* signInAs(subject)), "/")
      yield* rotateKeys
      const again = yield* signInAs(subject)
      assert.strictEqual(destinationOf(again), "/")
      assert.strictEqual((yield* refreshPanelSession(sessionCookieOf(again))).status, 200)
    })
  )
})

layer(nodeWithProviderLayer())("a provider that is away when the node starts", (it) => {
  const beginWith = (lie: (response: ServerResponse) => unknown) =>
    Effect.flatMap(TestProvider, ({ during }) =>
      during((_, response) => {
        lie(response)
        return true
      }, beginSignIn())
    )

  it.effect("does not keep the node from working, and is used as soon as it is there", () =>
    Effect.gen(function* () {
      const { issuer } = yield* TestProvider
      const away = yield* beginWith((response) => response.destroy())
      assert.deepStrictEqual(away.answer.body, { problem: "provider_unavailable" })
      const other = { issuer: "https://id.example.com", authorization_endpoint: `${issuer}/auth` }
      const lying = yield* beginWith((response) => json(response, other))
      assert.deepStrictEqual(lying.answer.body, { problem: "provider_rejected" })
      const { subject } = yield* addProviderUser()
      assert.strictEqual(destinationOf(yield* signInAs(subject)), "/")
    })
  )
})
