// @tags slow
import { tcpTarget } from "@scheduling/calls/testing/CallTargets"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { signUp } from "../support/http.ts"
import { runningNodeLayer } from "../support/TestApp.ts"
import { monitorClientOf } from "./monitors.ts"

layer(runningNodeLayer(), { excludeTestServices: true })("a long test of a monitor", (it) => {
  it.effect(
    "gets its response although its connection is silent for longer than usual",
    () =>
      Effect.gen(function* () {
        const port = yield* tcpTarget(() => {})
        const tcp = monitorClientOf("tcp", yield* signUp(), {
          name: "Server",
          host: "127.0.0.1",
          port,
          expect: "220"
        })
        // Without an allowance, the service closes a connection after 15 seconds of silence.
        const { body, status, text } = yield* tcp.test({ timeout_seconds: 17 })
        assert.strictEqual(status, 200, text)
        assert.strictEqual(body.error.code, "timeout")
      }),
    60_000
  )
})
