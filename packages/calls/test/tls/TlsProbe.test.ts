import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { SslProtocol } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { Effect, Fiber, Layer, Result } from "effect"
import type { Socket } from "node:net"
import {
  getCACertificates,
  setDefaultCACertificates,
  TLSSocket,
  type TLSSocketOptions
} from "node:tls"
import { EgressAllow, Resolver } from "../../src/egress/Egress.ts"
import { parseCidrs } from "../../src/egress/EgressRules.ts"
import {
  verifyCertificate,
  type TlsCheckResult,
  TlsProbe,
  type TlsTarget
} from "../../src/tls/TlsProbe.ts"
import { tcpTarget } from "../support/CallTargets.ts"
import {
  deep,
  expired,
  foreign,
  future,
  intermediate,
  key,
  otherRoot,
  root,
  selfSigned,
  site
} from "../support/certificates.ts"

const probe = (allow = "127.0.0.0/8") =>
  TlsProbe.layer.pipe(
    Layer.provide([
      Layer.succeed(EgressAllow, Result.getOrThrow(parseCidrs(allow))),
      Layer.succeed(Resolver, async () => ["127.0.0.1"])
    ])
  )

const check = (port: number, target: Partial<TlsTarget> = {}, allow?: string) =>
  Effect.flatMap(TlsProbe, (one) =>
    one.check({ host: "site.test", port, server_name: "site.test", protocol: "tls", ...target })
  ).pipe(Effect.provide(probe(allow)))

const secured = (socket: Socket, options: TLSSocketOptions) =>
  new TLSSocket(socket, { isServer: true, key, cert: site, ...options }).on("error", () => {})

/** Starts a real server that presents these certificates. */
const showing = (cert: string, options: TLSSocketOptions = {}) =>
  tcpTarget((socket) => void secured(socket, { cert, ...options }))

const verdict = ({ message, verification }: TlsCheckResult) => [verification, message]

/** Sends the protocol's greeting, and then starts the TLS handshake. */
const talking = (script: ReadonlyArray<readonly [string | null, string]>) =>
  tcpTarget((socket) => {
    let step = 0
    const next = () => {
      const [, reply] = script[step++] ?? ["", ""]
      socket.write(reply)
      if (step === script.length) {
        socket.off("data", hear)
        secured(socket, {})
      }
    }
    const hear = (chunk: Buffer) => {
      if (chunk.toString("latin1") === script[step]?.[0]) next()
      else socket.destroy()
    }
    socket.on("data", hear)
    if (script[0]?.[0] === null) next()
  })

const roots = getCACertificates("default")

describe("a check of a certificate", () => {
  beforeAll(() => setDefaultCACertificates([root]))
  afterAll(() => setDefaultCACertificates(roots))

  it.live("returns a valid certificate with its issuers and no problem", () =>
    Effect.gen(function* () {
      const seen = yield* check(yield* showing(`${deep}\n${intermediate}`), {
        server_name: "deep.test"
      })
      assert.deepStrictEqual(verdict(seen), ["ok", null])
      const { chain, ...certificate } = seen.certificate ?? assert.fail()
      assert.deepInclude(certificate, {
        subject: "CN=deep.test",
        issuer: "CN=test intermediate",
        names: ["deep.test"],
        valid_from: Date.UTC(2020, 0, 1),
        valid_to: Date.UTC(2120, 0, 1)
      })
      assert.match(certificate.fingerprint_sha256, /^[0-9A-F]{64}$/)
      assert.deepStrictEqual(
        chain.map(({ issuer, subject }) => [subject, issuer]),
        [["CN=test intermediate", "CN=test root"]]
      )
      // The second check does not resume the TLS session.
      const port = yield* showing(site, { maxVersion: "TLSv1.2" })
      assert.strictEqual((yield* check(port)).verification, "ok")
      assert.isNotNull((yield* check(port)).certificate)
    })
  )

  it.live.each([
    ["by an address that it is for", site, "127.0.0.1", "ok", null],
    [
      "that has expired",
      expired,
      "expired.test",
      "expired",
      "The certificate expired on 2020-02-01."
    ],
    [
      "that is not valid yet",
      future,
      "future.test",
      "not_yet_valid",
      "The certificate is not valid before 2119-01-01."
    ],
    [
      "that is self-signed",
      selfSigned,
      "self.test",
      "self_signed",
      "The certificate is self-signed."
    ],
    [
      "for other names",
      site,
      "other.test",
      "host_mismatch",
      "The certificate is for site.test, www.site.test, 127.0.0.1."
    ],
    [
      "without the certificate of its issuer",
      deep,
      "deep.test",
      "incomplete_chain",
      "The server does not send the certificate of its issuer, CN=test intermediate, which clients do not know."
    ],
    [
      "of an issuer that nobody trusts",
      `${foreign}\n${otherRoot}`,
      "foreign.test",
      "unknown_issuer",
      "The issuer CN=other root is not trusted."
    ]
  ] as const)("tells of one %s", ([_name, cert, server_name, verification, message]) =>
    Effect.gen(function* () {
      const seen = yield* check(yield* showing(cert), { server_name })
      assert.deepStrictEqual(verdict(seen), [verification, message])
      assert.isNotNull(seen.certificate)
    })
  )

  it.live("reports a server without a certificate or without TLS", () =>
    Effect.gen(function* () {
      const old = yield* showing(site, {
        minVersion: "TLSv1",
        maxVersion: "TLSv1",
        ciphers: "DEFAULT@SECLEVEL=0"
      })
      const cut = yield* tcpTarget((socket) => {
        socket.once("data", () => socket.destroy())
      })
      const plain = yield* tcpTarget((socket) => void socket.end("SSH-2.0-OpenSSH_9.7\r\n"))
      const closed = yield* Effect.scoped(tcpTarget(() => {}))
      assert.deepStrictEqual(verdict(yield* check(old)), [
        "handshake_failed",
        "The server does not support TLS 1.2 or later."
      ])
      assert.deepStrictEqual(verdict(yield* check(cut)), ["handshake_failed", "Connection reset."])
      assert.strictEqual((yield* check(plain)).verification, "handshake_failed")
      assert.deepStrictEqual(verdict(yield* check(closed)), ["unreachable", "Connection refused."])
    })
  )

  it.live("ends with the connection when it is interrupted", () =>
    Effect.gen(function* () {
      let open = 0
      const port = yield* tcpTarget((socket) => {
        open++
        socket.resume().on("close", () => open--)
      })
      const until = Effect.fnUntraced(function* (connections: number) {
        yield* Effect.sleep(5).pipe(
          Effect.repeat({ until: () => open === connections, times: 400 })
        )
        assert.strictEqual(open, connections)
      })
      const fiber = yield* Effect.forkChild(check(port))
      yield* until(1)
      yield* Fiber.interrupt(fiber)
      yield* until(0)
    })
  )

  it.live("follows the egress rules of calls", () =>
    Effect.gen(function* () {
      const port = yield* showing(site)
      for (const host of ["site.test", "127.0.0.1"]) {
        const seen = yield* check(port, { host }, "10.0.0.0/8")
        assert.strictEqual(seen.verification, "unreachable")
        assert.include(seen.message, "not allowed")
      }
    })
  )

  it.live.each([
    [
      "smtp",
      [
        [null, "220-mail.test ESMTP\r\n220 hello\r\n"],
        ["EHLO scheduling-service\r\n", "250-mail.test\r\n250-STARTTLS\r\n250 8BITMIME\r\n"],
        ["STARTTLS\r\n", "220 go ahead\r\n"]
      ]
    ],
    [
      "imap",
      [
        [null, "* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n"],
        ["a1 STARTTLS\r\n", "* some more\r\na1 OK begin\r\n"]
      ]
    ],
    [
      "pop3",
      [
        [null, "+OK ready\r\n"],
        ["STLS\r\n", "+OK begin\r\n"]
      ]
    ],
    ["postgres", [["\u0000\u0000\u0000\u0008\u0004\u00d2\u0016\u002f", "S"]]]
  ] as const)("asks for TLS in the words of %s", ([protocol, script]) =>
    Effect.gen(function* () {
      const seen = yield* check(yield* talking(script), { protocol })
      assert.deepStrictEqual(verdict(seen), ["ok", null])
    })
  )

  it.live.each([
    ["smtp", "554 no\r\n", "The server does not offer STARTTLS."],
    ["imap", "* BYE\r\n", "The server does not offer STARTTLS."],
    ["pop3", "-ERR\r\n", "The server does not offer STARTTLS."],
    ["pop3", "x".repeat(20_000), "The server's greeting is too long."]
  ] as ReadonlyArray<[SslProtocol, string, string]>)(
    "reports that a server of %s offers no TLS",
    ([protocol, greeting, message]) =>
      Effect.gen(function* () {
        const port = yield* tcpTarget((socket) => void socket.write(greeting))
        assert.deepStrictEqual(verdict(yield* check(port, { protocol })), [
          "handshake_failed",
          message
        ])
      })
  )

  it("compares the validity with the time of the check", () => {
    const certificate = {
      subject: "CN=a",
      issuer: "CN=b",
      fingerprint_sha256: "AA",
      valid_from: 1000,
      valid_to: 2000,
      names: [],
      serial: "01",
      chain: []
    }
    const issuer = { ...certificate, subject: "CN=b", issuer: "CN=c", valid_to: 500 }
    const withExpiredIssuer = { ...certificate, chain: [issuer] }
    assert.strictEqual(
      verifyCertificate(
        { certificate: withExpiredIssuer, chainError: "CERT_HAS_EXPIRED", hostError: undefined },
        1500
      ).message,
      "The certificate of the issuer CN=b expired on 1970-01-01."
    )
    const at = (ms: number) =>
      verifyCertificate({ certificate, chainError: undefined, hostError: undefined }, ms)
        .verification
    assert.deepStrictEqual([999, 1000, 2000, 2001].map(at), [
      "not_yet_valid",
      "ok",
      "ok",
      "expired"
    ])
  })
})
