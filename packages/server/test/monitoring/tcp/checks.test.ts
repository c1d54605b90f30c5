import { replyWith, tcpTarget } from "@scheduling/calls/testing/CallTargets"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { statusAndError, signUp, runConcurrently } from "../../support/http.ts"
import { runningNodeLayer } from "../../support/TestApp.ts"
import { assertTested, type CheckCase, firstCheckOf, monitorClientOf } from "../monitors.ts"

layer(runningNodeLayer(), { excludeTestServices: true })("a check of a TCP monitor", (it) => {
  it.effect("says why a server is not as expected", () =>
    Effect.gen(function* () {
      const monitors = monitorClientOf("tcp", yield* signUp(), { name: "Server", confirm_after: 1 })
      const silent = yield* tcpTarget(() => {})
      const redis = yield* tcpTarget(replyWith("+PONG\r\n"))
      const greeting = yield* tcpTarget((socket) => {
        socket.write("220 mail.exa")
        setTimeout(() => socket.write("mple.com ESMTP\r\n"), 50)
      })
      const closing = yield* tcpTarget((socket) => void socket.end("bye"))
      const endless = yield* tcpTarget((socket) => {
        const write = (): boolean => !socket.destroyed && socket.write("x".repeat(30_000), write)
        write()
      })
      const closed = yield* Effect.scoped(tcpTarget(() => {}))
      const at = (port: number) => ({ host: "127.0.0.1", port })
      const cases: ReadonlyArray<CheckCase> = [
        [at(silent), null, /^$/],
        [{ ...at(redis), send: "PING\r\n", expect: "+PONG" }, null, /^$/],
        [{ ...at(greeting), expect: "example.com ESMTP" }, null, /^$/],
        [at(closed), "connection", /^Connection refused\.$/],
        [{ ...at(silent), expect: "220", timeout_seconds: 1 }, "timeout", /while waiting for the/],
        [{ ...at(closing), expect: "220" }, "response_rule", /before it closed the connection/],
        [{ ...at(endless), expect: "220" }, "response_rule", /in its first 64 KiB/],
        [{ host: "nowhere.invalid", port: 80 }, "dns", /^(Host not found|Name server)/]
      ]
      const checked = yield* runConcurrently(cases.map(([input]) => firstCheckOf(monitors, input)))
      checked.forEach((monitor, index) => {
        const [input, code, message] = cases[index] ?? assert.fail("no case")
        const { error } = monitor.last_check
        assert.strictEqual(error?.code ?? null, code, JSON.stringify([input, error]))
        assert.match(error?.message ?? "", message)
        assert.strictEqual(monitor.status, code === null ? "up" : "down")
      })
      yield* assertTested(monitors, cases)
      const [open] = checked
      assert.deepInclude(open?.last_check, { dns_ms: null, tls_ms: null, wait_ms: null })
      assert.isNumber(open?.last_check.connect_ms)
      const refused = yield* monitors.create({ host: "192.168.0.1", port: 22 })
      assert.strictEqual(statusAndError(refused), "422 validation_failed")
    })
  )
})
