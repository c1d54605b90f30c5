import { assert, describe, it } from "@effect/vitest"
import {
  encodeBase32,
  computeTotpCode,
  makeRecoveryCode,
  timeStepAt,
  findTimeStep,
  totpUri
} from "../../../src/accounts/totp/totp.ts"

const secret = Buffer.from("12345678901234567890")

describe("codes of authenticator apps", () => {
  // The test vectors of RFC 6238, appendix B, with eight digits.
  it.each([
    [59, "94287082"],
    [1_111_111_109, "07081804"],
    [1_111_111_111, "14050471"],
    [1_234_567_890, "89005924"],
    [2_000_000_000, "69279037"],
    [20_000_000_000, "65353130"]
  ])("are those of the RFC at %d s", (seconds, code) => {
    assert.strictEqual(computeTotpCode(secret, timeStepAt(new Date(seconds * 1000)), 8), code)
    assert.strictEqual(computeTotpCode(secret, timeStepAt(new Date(seconds * 1000))), code.slice(2))
  })

  it("are valid one step before and after, because clocks differ", () => {
    const at = (seconds: number) => findTimeStep(secret, "287082", new Date(seconds * 1000))
    for (const seconds of [30, 59, 60, 89]) assert.strictEqual(at(seconds), 1, String(seconds))
    for (const seconds of [90, 120, 1_000]) assert.isUndefined(at(seconds), String(seconds))
    for (const code of ["", "28708", "2870822", "２８７０８２"]) {
      assert.isUndefined(findTimeStep(secret, code, new Date(59_000)), code)
    }
  })

  // The test vectors of RFC 4648, chapter 10.
  it.each([
    ["", ""],
    ["f", "MY"],
    ["fo", "MZXQ"],
    ["foo", "MZXW6"],
    ["foob", "MZXW6YQ"],
    ["fooba", "MZXW6YTB"],
    ["foobar", "MZXW6YTBOI"]
  ])("have secrets in base32: %o", (text, encoded) => {
    assert.strictEqual(encodeBase32(Buffer.from(text)), encoded)
  })

  it("are set up by a URI that names the account", () => {
    assert.strictEqual(
      totpUri(secret, "a+b@example.com"),
      "otpauth://totp/Scheduling%20Service:a%2Bb%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Scheduling%20Service"
    )
  })

  it("can be replaced by recovery codes that are easy to type", () => {
    const codes = Array.from({ length: 100 }, makeRecoveryCode)
    assert.strictEqual(new Set(codes).size, 100)
    for (const code of codes) assert.match(code, /^[a-z2-7]{5}-[a-z2-7]{5}$/)
  })
})
