// @tags slow
import { assert, layer } from "@effect/vitest"
import { Api } from "@scheduling/domain/Api"
import { Access } from "@scheduling/domain/shared/Access"
import { Context, Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { ask, assertErrorShape, statusAndError, password, randomEmail } from "../support/http.ts"
import { requestText, sendBytes } from "../support/rawHttp.ts"
import { routes, urlWithIds } from "../support/routes.ts"
import { testAppLayer } from "../support/TestApp.ts"

const app = "https://app.example.com"
const evil = { origin: "https://evil.example" }

/** The URLs that accept credentials in the body. */
const credentialUrls: ReadonlyArray<string> = (() => {
  const found: Array<string> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const { kind } = Context.getUnsafe(endpoint.annotations, Access)
      if (kind === "public" && endpoint.method !== "GET") found.push(urlWithIds(endpoint.path))
    }
  })
  return found
})()

const cors = (headers: Headers) => headers.get("access-control-allow-origin")

layer(testAppLayer({ allowedOrigins: [app] }))("A page of another origin", (it) => {
  it.effect.each(
    credentialUrls.flatMap((url) =>
      [
        evil,
        { origin: "null" },
        { origin: "https://app.example.com.evil.example" },
        { ...evil, "sec-fetch-site": "cross-site" },
        { ...evil, "sec-fetch-site": "same-site" },
        // The headers that a browser sends for a form or a link.
        { "sec-fetch-site": "cross-site" }
      ].map((headers) => [url, headers] as const)
    )
  )("is refused at %s with %o, before the body is looked at", ([url, headers]) =>
    Effect.gen(function* () {
      for (const body of [{}, "junk", { email: randomEmail(), password }]) {
        const answer = yield* ask("POST", url, { body, headers })
        assertErrorShape(answer)
        assert.strictEqual(statusAndError(answer), "403 origin_refused")
        assert.isNull(cors(answer.headers))
      }
      // Browsers send no preflight request if there is no content type.
      const untyped = yield* sendBytes(
        requestText(`POST ${url}`, { ...headers, "content-length": "2", connection: "close" }, "{}")
      )
      assert.strictEqual(untyped.answers[0]?.body.detail.error, "origin_refused")
      const asked = yield* ask("OPTIONS", url, { headers: { ...evil, ...headers } })
      assert.isNull(cors(asked.headers))
    })
  )

  it.effect.each([
    { origin: app },
    { origin: app, "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-origin", origin: "https://behind-a-proxy.example" },
    { "sec-fetch-site": "none" },
    { origin: "https://test", host: "test" },
    {}
  ])("is not this one: %o", (headers) =>
    Effect.gen(function* () {
      const { host = "other", ...rest } = headers as Readonly<Record<string, string>>
      for (const url of credentialUrls) {
        const { answers } = yield* sendBytes(
          `POST ${url} HTTP/1.1\r\nhost: ${host}\r\n` +
            Object.entries(rest)
              .map(([name, value]) => `${name}: ${value}\r\n`)
              .join("") +
            "content-length: 2\r\nconnection: close\r\n\r\n{}"
        )
        assert.strictEqual(answers[0]?.status, 422)
        assert.strictEqual(
          answers[0]?.headers.get("access-control-allow-origin"),
          rest["origin"] === app ? app : undefined
        )
      }
    })
  )

  it.effect("may read endpoints that need a credential", () =>
    Effect.gen(function* () {
      for (const { method, path } of routes) {
        const url = urlWithIds(path)
        if (credentialUrls.includes(url)) continue
        const answer = yield* ask(method, url, { headers: evil })
        assert.strictEqual(cors(answer.headers), "*")
      }
    })
  )
})

const forHost = (host: string, line = "GET /v1/whoami") =>
  Effect.map(
    sendBytes(`${line} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`),
    ({ answers: [answer] }) => `${answer?.status} ${answer?.body.detail?.error ?? ""}`.trim()
  )

layer(
  testAppLayer({
    allowedHosts: ["API.example.com", "[fd00::1]"],
    publicUrl: "https://Jobs.example.com:8443"
  })
)("A name", (it) => {
  it.effect.each([
    "jobs.example.com:8443",
    "api.example.com",
    "API.EXAMPLE.COM:8443",
    "[fd00::1]:80",
    "localhost:4000",
    "scheduling.localhost",
    "127.0.0.1:4000",
    "127.1.2.3",
    "[::1]",
    ""
  ])("of ours is answered: '%s'", (host) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* forHost(host), "401 missing_credentials")
    })
  )

  it.effect.each([
    "evil.example",
    "evil.example:4000",
    "api.example.com.evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "notlocalhost",
    "10.0.0.5",
    "[::2]",
    "2130706433"
  ])("that somebody else lets resolve to us is not: %s", (host) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* forHost(host), "421 misdirected_request")
      for (const probe of ["/v1/health", "/v1/ready"]) {
        assert.strictEqual(yield* forHost(host, `GET ${probe}`), "200")
      }
    })
  )

  it.effect("is checked on every route, before everything else", () =>
    Effect.gen(function* () {
      for (const { method, path } of routes) {
        if (path === "/v1/health" || path === "/v1/ready") continue
        assert.strictEqual(
          yield* forHost("evil.example", `${method} ${urlWithIds(path)}`),
          "421 misdirected_request"
        )
      }
    })
  )
})
