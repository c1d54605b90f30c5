import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib"
import { AppConfig } from "../../src/core/config/Config.ts"
import { routerConfig } from "../../src/http/Routes.ts"
import { pageRoutesLayer } from "../../src/panel/pageRoutes.ts"
import { PanelFiles } from "../../src/panel/PanelFiles.ts"
import { ask, statusAndError } from "../support/http.ts"
import { testAppLayer, testConfig } from "../support/TestApp.ts"

const script = "console.log('the panel')".repeat(20)

const builtPanel = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "panel-"))
    mkdirSync(join(folder, "assets"))
    writeFileSync(join(folder, "index.html"), "<!doctype html><title>Panel</title>")
    const file = join(folder, "assets", "index-a1b2.js")
    writeFileSync(file, script)
    writeFileSync(`${file}.br`, brotliCompressSync(script))
    writeFileSync(`${file}.gz`, gzipSync(script))
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Serves only the panel's routes, with the files in a folder. */
const panelIn = Effect.fnUntraced(function* (
  folder: string,
  config: Partial<AppConfig["Service"]> = {}
) {
  const { handler } = yield* Effect.acquireRelease(
    Effect.sync(() =>
      HttpRouter.toWebHandler(
        pageRoutesLayer.pipe(
          Layer.provide(PanelFiles.layerFrom(folder)),
          Layer.provide(Layer.succeed(AppConfig, { ...testConfig, ...config })),
          Layer.provideMerge(NodeHttpServer.layerHttpServices)
        ),
        { disableLogger: true, routerConfig }
      )
    ),
    ({ dispose }) => Effect.promise(dispose)
  )
  return (path: string, headers: Record<string, string> = {}) =>
    Effect.promise(() => handler(new Request(`http://localhost${path}`, { headers })))
})

describe("the pages of the panel", () => {
  it.effect("are one file under a strict policy, which browsers revalidate each time", () =>
    Effect.gen(function* () {
      const get = yield* panelIn(yield* builtPanel)
      for (const path of [
        "/",
        "/sign-in",
        "/account/sessions",
        "/w/1/tasks/cron/2?status=active"
      ]) {
        const page = yield* get(path)
        assert.strictEqual(page.status, 200)
        assert.include(yield* Effect.promise(() => page.text()), "<title>Panel</title>")
        assert.strictEqual(page.headers.get("cache-control"), "no-cache")
        assert.strictEqual(page.headers.get("referrer-policy"), "no-referrer")
        assert.strictEqual(
          page.headers.get("content-security-policy"),
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
            "img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; " +
            "frame-ancestors 'none'; require-trusted-types-for 'script'"
        )
        assert.isNull(page.headers.get("strict-transport-security"))
        const etag = page.headers.get("etag") ?? ""
        assert.strictEqual((yield* get(path, { "if-none-match": etag })).status, 304)
      }
    })
  )

  it.effect("come with files that are cached for ever, compressed at build time", () =>
    Effect.gen(function* () {
      const get = yield* panelIn(yield* builtPanel)
      const file = yield* get("/assets/index-a1b2.js", { "accept-encoding": "gzip, br" })
      assert.strictEqual(file.headers.get("content-encoding"), "br")
      assert.strictEqual(file.headers.get("content-type"), "text/javascript; charset=utf-8")
      assert.strictEqual(file.headers.get("cache-control"), "public, max-age=31536000, immutable")
      const bytes = yield* Effect.promise(() => file.arrayBuffer())
      assert.strictEqual(brotliDecompressSync(bytes).toString(), script)
      const plain = yield* get("/assets/index-a1b2.js")
      assert.strictEqual(yield* Effect.promise(() => plain.text()), script)
    })
  )

  it.effect.each([
    "/assets/index-a1b2.js.br",
    "/assets/nothing.js",
    "/assets/..%2findex.html",
    "/assets/%2e%2e%2findex.html",
    "/assets/__proto__"
  ])("are all there is: %s is not", (path) =>
    Effect.gen(function* () {
      const get = yield* panelIn(yield* builtPanel)
      assert.strictEqual((yield* get(path)).status, 404)
    })
  )

  it.effect("are shown with 404 at unknown addresses, to clients that accept HTML", () =>
    Effect.gen(function* () {
      const get = yield* panelIn(yield* builtPanel)
      const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }
      const page = yield* get("/does/not/exist", browser)
      assert.strictEqual(page.status, 404)
      assert.include(yield* Effect.promise(() => page.text()), "<title>Panel</title>")
      assert.strictEqual(page.headers.get("vary"), "accept, accept-encoding")
      assert.include(page.headers.get("content-security-policy") ?? "", "default-src 'none'")
      const etag = page.headers.get("etag") ?? ""
      const again = yield* get("/does/not/exist", { ...browser, "if-none-match": etag })
      assert.strictEqual(again.status, 404)
      for (const path of ["/does/not/exist", "/v1/nothing", "/docs/nothing", "/assets/a/b"]) {
        const answer = yield* get(path, path === "/does/not/exist" ? {} : browser)
        assert.strictEqual(answer.status, 404)
        assert.strictEqual(yield* Effect.promise(() => answer.text()), "")
      }
    })
  )

  it.effect("send HSTS if they are reached over https", () =>
    Effect.gen(function* () {
      const get = yield* panelIn(yield* builtPanel, { publicUrl: "https://scheduling.example.com" })
      const page = yield* get("/")
      assert.strictEqual(page.headers.get("strict-transport-security"), "max-age=31536000")
    })
  )

  it.effect("say how to build the panel if it is not built", () =>
    Effect.gen(function* () {
      const get = yield* panelIn(join(tmpdir(), "no-such-panel"))
      const page = yield* get("/")
      assert.include(yield* Effect.promise(() => page.text()), "npm install")
      assert.include(page.headers.get("content-security-policy") ?? "", "default-src 'none'")
      assert.strictEqual((yield* get("/assets/index.js")).status, 404)
    })
  )
})

layer(testAppLayer())("the service", (it) => {
  it.effect("has the panel at its root, built or not, and the reference at /docs", () =>
    Effect.gen(function* () {
      const page = yield* ask("GET", "/")
      assert.strictEqual(page.status, 200)
      assert.strictEqual(page.headers.get("content-type"), "text/html; charset=utf-8")
      assert.include(page.headers.get("content-security-policy") ?? "", "script-src 'self'")
      assert.strictEqual((yield* ask("GET", "/docs")).status, 200)
      assert.strictEqual(statusAndError(yield* ask("GET", "/elsewhere")), "404 not_found")
      assert.strictEqual(statusAndError(yield* ask("POST", "/w/1")), "405 method_not_allowed")
      const viaProxy = { "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https" }
      const secure = yield* ask("GET", "/", { headers: viaProxy })
      assert.strictEqual(secure.headers.get("strict-transport-security"), "max-age=31536000")
    })
  )

  it.effect(
    "shows people the panel at unknown addresses, and responds to programs with the usual 404",
    () =>
      Effect.gen(function* () {
        const browser = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } }
        for (const path of ["/settings", "/login", "/does/not/exist"]) {
          assert.strictEqual(statusAndError(yield* ask("GET", path)), "404 not_found")
          assert.strictEqual(statusAndError(yield* ask("POST", path, browser)), "404 not_found")
        }
        for (const path of ["/v1/nothing", "/docs/nothing", "/assets/a/b", "/v1"]) {
          assert.strictEqual(
            statusAndError(yield* ask("GET", path, browser)),
            "404 not_found",
            path
          )
        }
        assert.strictEqual(
          statusAndError(yield* ask("GET", "/v1/auth/login", browser)),
          "405 method_not_allowed"
        )
      })
  )
})
