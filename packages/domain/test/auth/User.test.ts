import { assert, describe, it } from "@effect/vitest"
import { Email } from "@scheduling/domain/auth/User"
import { Result, Schema } from "effect"

const decode = Schema.decodeUnknownResult(Email)

describe("Email", () => {
  it("is trimmed and lower-cased, so that one address is one account", () => {
    assert.deepStrictEqual(decode("  Ada@Example.COM "), Result.succeed("ada@example.com"))
  })

  it.each([
    "",
    "ada",
    "ada@example",
    "a b@example.com",
    "@example.com",
    "ada@@example.com",
    `${"a".repeat(65)}@b.co`
  ])("is not %j", (text) => assert.isTrue(Result.isFailure(decode(text))))

  it("is at most 254 characters long", () => {
    const host = (length: number) => "h".repeat(length - 2 - 3)
    assert.isTrue(Result.isSuccess(decode(`a@${host(254)}.co`)))
    assert.isTrue(Result.isFailure(decode(`a@${host(255)}.co`)))
  })

  it("is refused at once when it is made to hold up a pattern", { timeout: 5_000 }, () => {
    // Takes minutes where the pattern is tried on it: its work grows with the square of the dots.
    assert.isTrue(Result.isFailure(decode(`a@${"a.".repeat(500_000)}@`)))
  })
})
