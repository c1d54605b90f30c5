import { assert, beforeAll, afterAll, layer } from "@effect/vitest"
import { tcpTarget } from "@scheduling/calls/testing/CallTargets"
import {
  expired,
  key as certificateKey,
  root,
  selfSigned,
  site
} from "@scheduling/calls/testing/certificates"
import { maxConcurrentTests } from "@scheduling/domain/monitors/checks/testEndpoint"
import { Effect, Fiber } from "effect"
import type { Socket } from "node:net"
import { getCACertificates, setDefaultCACertificates, TLSSocket } from "node:tls"
import { ask, statusAndError, signUp, times, runConcurrently } from "../support/http.ts"
import { runningNodesLayer } from "../support/TestApp.ts"
import { eventuallyOf, monitorClientOf } from "./monitors.ts"

const roots = getCACertificates("default")
beforeAll(() => setDefaultCACertificates([root]))
afterAll(() => setDefaultCACertificates(roots))

/** Starts a server that presents the certificate. */
const presenting = (cert: string) =>
  tcpTarget((socket) => {
    new TLSSocket(socket, { isServer: true, key: certificateKey, cert }).on("error", () => {})
  })

layer(runningNodesLayer, { excludeTestServices: true })("a test of a monitor", (it) => {
  it.effect("shows the certificate of a server and its problem", () =>
    Effect.gen(function* () {
      const ssl = monitorClientOf("ssl", yield* signUp(), { name: "Site", host: "127.0.0.1" })
      const closed = yield* Effect.scoped(tcpTarget(() => {}))
      const cases = [
        [yield* presenting(site), "ok", /^$/],
        [yield* presenting(expired), "expired", /^The certificate expired on 2020-02-01\.$/],
        [yield* presenting(selfSigned), "self_signed", /^The certificate is self-signed\.$/],
        [closed, "unreachable", /^Connection refused\.$/]
      ] as const
      for (const [port, verification, message] of cases) {
        const { body, status, text } = yield* ssl.test({ port })
        assert.strictEqual(status, 200, text)
        assert.strictEqual(body.verification, verification)
        assert.match(body.verification_message ?? "", message)
        assert.isNumber(body.duration_ms)
        assert.strictEqual(body.certificate === null, verification === "unreachable")
      }
      const { body: valid } = yield* ssl.test({ port: cases[0][0] })
      assert.deepInclude(valid.certificate, {
        subject: "CN=site.test",
        valid_to: "2120-01-01T00:00:00.000Z"
      })
    })
  )

  it.effect("saves nothing, and nobody is notified", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { access_token: token, workspace } = member
      const read = (path: string) => ask("GET", `${workspace}/${path}`, { token })
      const { body: audit } = yield* read("audit")
      const port = yield* Effect.scoped(tcpTarget(() => {}))
      const tcp = monitorClientOf("tcp", member, { name: "Server", host: "127.0.0.1", port })
      const { body } = yield* tcp.test({ key: "server", confirm_after: 1 })
      assert.strictEqual(body.error.code, "connection")
      for (const path of ["monitors", "incidents", "notifications/deliveries", "executions"]) {
        assert.deepStrictEqual((yield* read(path)).body.data, [], path)
      }
      assert.deepStrictEqual((yield* read("audit")).body, audit)
    })
  )

  it.effect("is refused for a target that a monitor could not have", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const of = (kind: "http" | "tcp" | "dns" | "ssl") =>
        monitorClientOf(kind, member, { name: "Inside" }).test
      const places = [{ labels: ["office"] }]
      const refused = [
        [of("http")({ url: "http://10.0.0.1/" }), ["url"]],
        [of("tcp")({ host: "10.0.0.1", port: 22 }), ["host"]],
        [of("dns")({ host: "example.com", resolver: "10.0.0.53" }), ["resolver"]],
        [of("ssl")({ host: "10.0.0.1" }), ["host"]],
        [of("tcp")({ host: "10.0.0.1", port: 22, places }), ["places"]],
        [of("http")({ url: "http://127.0.0.1/", headers: { authorization: "•••" } }), ["headers"]]
      ] as const
      for (const [test, path] of refused) {
        const answer = yield* test
        assert.strictEqual(statusAndError(answer), "422 validation_failed", answer.text)
        assert.deepStrictEqual(answer.body.detail.issues[0].path.slice(0, 1), path)
      }
    })
  )

  it.effect("exists only for kinds that check a target", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      for (const kind of ["heartbeat", "process"] as const) {
        const { test } = monitorClientOf(kind, member)
        assert.strictEqual((yield* test({ name: "Backup" })).status, 405)
      }
    })
  )

  it.effect("runs on a node that serves only the API", () =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* signUp()
      const port = yield* tcpTarget(() => {})
      const { body } = yield* ask("POST", `${workspace}/monitors/tcp/test`, {
        at: "otherUrl",
        token,
        body: { name: "Server", host: "127.0.0.1", port }
      })
      assert.strictEqual(body.error, null)
    })
  )

  it.effect("is refused while its workspace runs too many others", () =>
    Effect.gen(function* () {
      const connected: Array<Socket> = []
      const port = yield* tcpTarget((socket) => void connected.push(socket))
      const ofWorkspace = Effect.map(signUp(), (member) =>
        monitorClientOf("tcp", member, { name: "Server", host: "127.0.0.1", port, expect: "220" })
      )
      const { test } = yield* ofWorkspace
      const other = yield* ofWorkspace
      const waiting = yield* Effect.forkChild(
        runConcurrently(times(maxConcurrentTests, () => test()))
      )
      const connectedTo = (count: number) =>
        eventuallyOf(
          `${count} connections`,
          Effect.sync(() => connected.length),
          (found) => (found === count ? found : undefined)
        )
      yield* connectedTo(maxConcurrentTests)
      const refused = yield* test()
      assert.strictEqual(statusAndError(refused), "429 rate_limited")
      assert.strictEqual(refused.headers.get("retry-after"), "1")
      const ofOther = yield* Effect.forkChild(other.test())
      yield* connectedTo(maxConcurrentTests + 1)
      for (const socket of connected) socket.end("220 ready\r\n")
      const answers = [...(yield* Fiber.join(waiting)), yield* Fiber.join(ofOther)]
      for (const { body, text } of answers) assert.strictEqual(body.error, null, text)
      const next = yield* Effect.forkChild(test())
      yield* connectedTo(answers.length + 1)
      connected.at(-1)?.end("220 ready\r\n")
      assert.strictEqual((yield* Fiber.join(next)).body.error, null)
    })
  )
})
