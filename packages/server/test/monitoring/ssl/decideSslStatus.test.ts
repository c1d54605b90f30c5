import type { TlsCheckResult } from "@scheduling/calls/tls/TlsProbe"
import { assert, describe, it } from "@effect/vitest"
import type { SslVerification } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { decideSslStatus, type SslState } from "../../../src/monitoring/ssl/decideSslStatus.ts"

const now = Date.UTC(2026, 5, 1)
const day = 86_400_000
const rules = { warn_days: [30, 14, 7, 3, 1], check_interval_seconds: 21_600 }

const before: SslState = {
  status: "new",
  failures: 0,
  verification: null,
  message: null,
  certificate: null,
  seen: []
}

const certificate = (fingerprint: string, daysLeft: number, life = 90) => ({
  subject: `CN=${fingerprint}`,
  issuer: "CN=root",
  fingerprint_sha256: fingerprint,
  valid_from: now + (daysLeft - life) * day,
  valid_to: now + daysLeft * day,
  names: [],
  serial: "01",
  chain: []
})

const saw = (fingerprint: string, daysLeft = 60, life = 90): TlsCheckResult => ({
  verification: "ok",
  message: null,
  certificate: certificate(fingerprint, daysLeft, life)
})
const bad = (verification: SslVerification): TlsCheckResult => ({
  verification,
  message: "It is bad.",
  certificate: null
})

/** Applies several check results in order. */
const check = (results: ReadonlyArray<TlsCheckResult>) => {
  let state = before
  return results.map((one) => {
    const decision = decideSslStatus(rules, state, one, now, 0.5)
    state = decision.state
    return decision
  })
}

describe("decideSslStatus", () => {
  it("is up with a valid certificate", () => {
    const [first] = check([saw("a")])
    assert.deepInclude(first, { cause: null, isChanged: false, expiringDays: null })
    assert.deepInclude(first?.state, { status: "up", failures: 0, verification: "ok" })
  })

  it("counts failures only until it is down", () => {
    const decisions = check(Array.from({ length: 40 }, () => bad("unreachable")))
    assert.deepInclude(decisions.at(-1)?.state, { status: "down", failures: 2 })
  })

  it("is down immediately with an invalid certificate", () => {
    const [first, second, third] = check([
      { ...saw("a"), verification: "host_mismatch", message: "It is for b." },
      { ...saw("a"), verification: "host_mismatch", message: "It is for b." },
      saw("a")
    ])
    assert.deepStrictEqual(first?.cause, { code: "host_mismatch", message: "It is for b." })
    assert.strictEqual(first?.nextCheckMs, 600_000)
    assert.isNull(second?.cause)
    assert.strictEqual(third?.state.status, "up")
  })

  it("says when the certificate of an issuer expired", () => {
    const chain = [certificate("issuer", -3)]
    const [first] = check([
      {
        verification: "expired",
        message: "It is old.",
        certificate: { ...certificate("a", 9), chain }
      }
    ])
    assert.deepStrictEqual(first?.cause, {
      code: "expired",
      message: "It is old.",
      certificate_expires_at: "2026-05-29T00:00:00.000Z"
    })
  })

  it("confirms a missing certificate with a second check a minute later", () => {
    const [, first, second, third] = check([
      saw("a"),
      bad("unreachable"),
      bad("handshake_failed"),
      saw("a")
    ])
    assert.deepInclude(first, { cause: null, nextCheckMs: 60_000 })
    assert.deepInclude(first?.state, { status: "up", failures: 1, verification: "unreachable" })
    // The last known certificate is still shown.
    assert.strictEqual(first?.state.certificate?.fingerprint_sha256, "a")
    assert.deepStrictEqual(second?.cause, { code: "handshake_failed", message: "It is bad." })
    assert.strictEqual(second?.state.status, "down")
    assert.deepInclude(third?.state, { status: "up", failures: 0 })
    const recovered = check([bad("unreachable"), saw("a"), bad("unreachable")])
    assert.deepStrictEqual(
      recovered.map(({ state }) => state.status),
      ["new", "up", "up"]
    )
  })

  it("warns once per number of warn_days", () => {
    const announced = [40, 29, 28, 13.5, 13, 0.5].map((days) => saw("a", days))
    assert.deepStrictEqual(
      check(announced).map(({ expiringDays, state }) => [state.status, expiringDays]),
      [
        ["up", null],
        ["warning", 30],
        ["warning", null],
        ["warning", 14],
        ["warning", null],
        ["warning", 1]
      ]
    )
  })

  it("warns of a six-day certificate only in its last third", () => {
    const announced = [5, 3, 2.1, 1.9, 0.9].map((days) => saw("a", days, 6))
    assert.deepStrictEqual(
      check(announced).map(({ expiringDays }) => expiringDays),
      [null, null, null, 3, 1]
    )
  })

  it("warns of an issuer that expires first", () => {
    const seen = saw("a", 60)
    const issuer = certificate("issuer", 6, 1000)
    const [first] = check([{ ...seen, certificate: { ...certificate("a", 60), chain: [issuer] } }])
    assert.strictEqual(first?.expiringDays, 7)
    assert.strictEqual(first?.state.status, "warning")
  })

  it("announces a new certificate once, even if the server alternates between several", () => {
    const announced = [saw("a", 5), saw("b"), saw("a", 5), saw("b"), saw("c"), saw("a", 5)]
    assert.deepStrictEqual(
      check(announced).map(({ expiringDays, isChanged }) => [isChanged, expiringDays]),
      [
        [false, 7],
        [true, null],
        [false, null],
        [false, null],
        [true, null],
        [false, null]
      ]
    )
  })

  it("spreads checks over a fifth of the interval, and checks at the expiry", () => {
    const after = (chance: number, daysLeft = 60) =>
      decideSslStatus(rules, before, saw("a", daysLeft), now, chance).nextCheckMs
    assert.strictEqual(after(0), 19_440_000)
    assert.strictEqual(after(1), 23_760_000)
    assert.strictEqual(after(1, 0.1), 8_641_000)
  })
})
