import { assert, describe, it } from "@effect/vitest"
import { Email, mailboxOf } from "@scheduling/domain/auth/emailAddress"
import { Result, Schema } from "effect"

const decode = Schema.decodeUnknownResult(Email)

describe("Email", () => {
  it("is trimmed and lower-cased, so that one address is one account", () => {
    assert.deepStrictEqual(decode("  Ada@Example.COM "), Result.succeed("ada@example.com"))
  })

  it.each([
    ["ada@example。com", "ada@example.com"],
    ["ada@example．com", "ada@example.com"],
    ["ada@example｡com", "ada@example.com"],
    ["ａｄａ@ｅｘａｍｐｌｅ.com", "ada@example.com"],
    ["ada@MÜNCHEN.example", "ada@xn--mnchen-3ya.example"],
    ["ada@xn--mnchen-3ya.example", "ada@xn--mnchen-3ya.example"],
    ["ada@faß.example", "ada@xn--fa-hia.example"],
    ["Jürgen@example.com", "jürgen@example.com"],
    ["Ju\u0308rgen@example.com", "jürgen@example.com"],
    ["ada+lists@example.com", "ada+lists@example.com"]
  ])("is kept in one spelling: %s as %s", (text, email) => {
    assert.deepStrictEqual(decode(text), Result.succeed(email))
    assert.deepStrictEqual(decode(email), Result.succeed(email))
  })

  it.each([
    "ada@example.com.",
    "ada@example..com",
    "ada@.example.com",
    "ada@-example.com",
    "ada@exa%6dple.com",
    "ada@example.com/x",
    "ada@example.com#x",
    "ada@example.com:25",
    "ada@exam\u00adple.com",
    "ada@exam\u200bple.com",
    "a\u200bda@example.com",
    "ada@127.0.0.1",
    "ada@0x7f.1",
    "ada@[127.0.0.1]",
    "ada＠example.com",
    "ada.@example.com",
    "a..da@example.com",
    '"ada"@example.com',
    "ada@example.com, eve@example.com",
    "",
    "ada",
    "ada@example",
    "a b@example.com",
    "@example.com",
    "ada@@example.com",
    `${"a".repeat(65)}@b.co`
  ])("is not %j", (text) => assert.isTrue(Result.isFailure(decode(text))))

  it("is at most 254 characters long", () => {
    const host = `${"h".repeat(63)}.`.repeat(3)
    const local = (length: number) => "a".repeat(length - host.length - 3)
    assert.isTrue(Result.isSuccess(decode(`${local(254)}@${host}co`)))
    assert.isTrue(Result.isFailure(decode(`${local(255)}@${host}co`)))
  })

  it(
    "is rejected immediately even if it is made to slow down a pattern",
    { timeout: 5_000 },
    () => {
      // Matching the pattern against this text would take minutes, because the time grows with the
      // square of the number of dots.
      assert.isTrue(Result.isFailure(decode(`a@${"a.".repeat(500_000)}@`)))
    }
  )

  it("may be written by a TypeScript client in every way that the service takes", () => {
    const encode = Schema.encodeUnknownResult(Email)
    assert.deepStrictEqual(encode(" Ada@Example。com "), Result.succeed(" Ada@Example。com "))
    assert.isTrue(Result.isFailure(encode("ada@example")))
  })
})

describe("mailboxOf", () => {
  it.each([
    ["ada@example.com", "ada@example.com"],
    ["a.da+lists+more@example.com", "ada@example.com"],
    ["+lists@example.com", "+lists@example.com"]
  ])("counts %s as %s", (email, mailbox) => assert.strictEqual(mailboxOf(email), mailbox))
})
