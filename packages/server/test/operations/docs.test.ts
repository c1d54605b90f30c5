import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as http from "node:http"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { ask } from "../support/http.ts"
import { TestApp, testAppLayer } from "../support/TestApp.ts"

/** Requests a page without decompressing it, unlike `fetch`. */
const get = Effect.fnUntraced(function* (path: string, headers: Readonly<Record<string, string>>) {
  const { url } = yield* TestApp
  return yield* Effect.callback<{
    readonly status: number
    readonly headers: http.IncomingHttpHeaders
    readonly body: Buffer
  }>((resume) => {
    http
      .get(url + path, { headers }, async (response) => {
        const body = Buffer.concat(await response.toArray())
        const { headers, statusCode = 0 } = response
        resume(Effect.succeed({ status: statusCode, headers, body }))
      })
      .on("error", (error) => resume(Effect.die(error)))
  })
})

const pages = ["/docs", "/v1/openapi.json", "/v1/openapi-3.0.json"]

layer(testAppLayer())("the reference", (it) => {
  it.effect.each(pages)("comes with the best compression that the client accepts, at %s", (path) =>
    Effect.gen(function* () {
      const plain = yield* get(path, {})
      assert.isUndefined(plain.headers["content-encoding"])
      for (const [accepted, coding, unpack] of [
        ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
        ["br;q=0, gzip", "gzip", gunzipSync],
        ["GZIP;q=0.5", "gzip", gunzipSync]
      ] as const) {
        const answer = yield* get(path, { "accept-encoding": accepted })
        assert.strictEqual(answer.headers["content-encoding"], coding)
        assert.strictEqual(answer.headers["content-length"], String(answer.body.length))
        assert.isBelow(answer.body.length, plain.body.length / 2)
        assert.isTrue(unpack(answer.body).equals(plain.body))
      }
      for (const refused of ["identity", "br;q=0", "gzip;q=0.0", "brr", ""]) {
        const answer = yield* get(path, { "accept-encoding": refused })
        assert.isUndefined(answer.headers["content-encoding"], refused)
      }
    })
  )

  it.effect.each(pages)("is not sent again to a client that has it, at %s", (path) =>
    Effect.gen(function* () {
      const { headers } = yield* get(path, { "accept-encoding": "br" })
      const { etag = "", vary } = headers
      assert.strictEqual(vary, "accept-encoding")
      for (const known of [etag, `"other", ${etag}`, etag.replace("W/", ""), "*"]) {
        const again = yield* get(path, { "if-none-match": known })
        assert.deepStrictEqual([again.status, again.body.length], [304, 0], known)
        assert.strictEqual(again.headers.etag, etag)
        assert.strictEqual(again.headers.vary, vary)
      }
      assert.strictEqual((yield* get(path, { "if-none-match": 'W/"other"' })).status, 200)
    })
  )

  it.effect.each(pages)("allows no other scripts and resources, at %s", (path) =>
    Effect.gen(function* () {
      const policy = (yield* get(path, {})).headers["content-security-policy"] ?? ""
      assert.include(policy, "default-src 'none'")
      assert.include(policy, "frame-ancestors 'none'")
      assert.notMatch(policy, /script-src[^;]*(?:unsafe|https?:|\*)/)
    })
  )

  it.effect("has an icon", () =>
    Effect.gen(function* () {
      const icon = yield* get("/favicon.ico", {})
      assert.strictEqual(icon.headers["content-type"], "image/svg+xml")
      assert.strictEqual((yield* ask("GET", "//")).status, 404)
    })
  )
})
