import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ErrorShape } from "@scheduling/domain/shared/ErrorShape"
import { Config, ConfigProvider, Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import {
  HttpApi,
  HttpApiBuilder,
  HttpApiEndpoint,
  HttpApiError,
  HttpApiGroup
} from "effect/http-api"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { request, Server } from "node:http"
import type { AddressInfo } from "node:net"
import {
  explainConfigError,
  isMalformedJson,
  objectMaker,
  rejectFurtherUpgradeListeners,
  withText
} from "../../src/core/libraryInternals.ts"

const Named = Schema.Struct({ name: Schema.String })

const api = HttpApi.make("internals").add(
  HttpApiGroup.make("group")
    .add(HttpApiEndpoint.post("post", "/", { payload: Named, success: Named }))
    .middleware(ErrorShape)
)

/** Returns the name that the framework decodes from a body, or why it cannot decode one. */
const answerTo = (body: string) =>
  Effect.promise(async () => {
    const app = HttpApiBuilder.layer(api).pipe(
      Layer.provide(
        HttpApiBuilder.group(api, "group", (handlers) =>
          handlers.handle("post", ({ payload }) => Effect.succeed(payload))
        )
      ),
      Layer.provide(
        Layer.succeed(ErrorShape, (answer) =>
          Effect.catch(answer, (error) =>
            Effect.succeed(
              HttpServerResponse.text(
                HttpApiError.HttpApiSchemaError.is(error) && isMalformedJson(error.cause.issue)
                  ? "malformed"
                  : "invalid"
              )
            )
          )
        )
      ),
      Layer.provide(NodeHttpServer.layerHttpServices)
    )
    const { dispose, handler } = HttpRouter.toWebHandler(app, {
      disableLogger: true,
      middleware: (answer) =>
        Effect.updateService(answer, HttpServerRequest.HttpServerRequest, (asked) =>
          asked.headers["x-text"] === undefined
            ? asked
            : withText(asked, Effect.succeed('{"name":"replaced"}'))
        )
    })
    const asked = (headers: Record<string, string>) =>
      handler(
        new Request("http://localhost/", {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body
        })
      ).then((response) => response.text())
    const answers = { plain: await asked({}), replaced: await asked({ "x-text": "1" }) }
    await dispose()
    return answers
  })

describe("The framework", () => {
  it.live("reports malformed JSON differently from JSON with wrong fields", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* answerTo("{")).plain, "malformed")
      assert.strictEqual((yield* answerTo('{"name":1}')).plain, "invalid")
      assert.strictEqual((yield* answerTo('{"name":"a"}')).plain, '{"name":"a"}')
    })
  )

  it.live("decodes a body from the text of its request", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* answerTo("{")).replaced, '{"name":"replaced"}')
    })
  )

  it.effect("names the variable of a configuration error in its message", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        Config.Literals(["open", "closed"], "REGISTRATION").parse(
          ConfigProvider.fromUnknown({ REGISTRATION: "ajar" })
        )
      )
      assert.match(explainConfigError(error), /^REGISTRATION: expected "open" \| "closed"/)
    })
  )

  it.live("does not respond to an upgrade once its listener is removed", () =>
    Effect.gen(function* () {
      const server = new Server()
      const upgraded: Array<string> = []
      server.on("upgrade", (_, socket) => {
        upgraded.push("ours")
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
      })
      rejectFurtherUpgradeListeners(server)
      const http = yield* NodeHttpServer.make(() => server, { port: 0 })
      yield* http.serve(Effect.succeed(HttpServerResponse.text("theirs")))
      yield* Effect.promise(async () => {
        const { port } = server.address() as AddressInfo
        const asked = request({ port, headers: { connection: "upgrade", upgrade: "h2c" } }).end()
        const [answer] = await once(asked, "response")
        assert.strictEqual(answer.statusCode, 200)
        answer.resume()
      })
      assert.deepStrictEqual(upgraded, ["ours"])
      assert.lengthOf(server.listeners("upgrade"), 1)
    }).pipe(Effect.scoped)
  )
})

describe("Node", () => {
  it("creates objects from values in the order of their fields", () => {
    assert.deepStrictEqual(objectMaker<object>(["id", 'a"b'])([1, null]), { id: 1, 'a"b': null })
  })

  it("knows the flag that keeps new objects young, and rejects an unknown flag", () => {
    const exec = (flag: string) =>
      execFileSync(process.execPath, [flag, "--version"], { encoding: "utf8", stdio: "pipe" })
    assert.match(exec("--no-allocation-site-pretenuring"), /^v/)
    assert.throws(() => exec("--no-such-flag-of-v8"), /bad option/)
  })
})
