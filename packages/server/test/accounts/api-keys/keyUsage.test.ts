import { assert, describe, it } from "@effect/vitest"
import type { Scope } from "@scheduling/domain/api-keys/Scope"
import { keyUsage } from "../../../src/accounts/api-keys/keyUsage.ts"
import type { KeyUseRow } from "../../../src/accounts/api-keys/KeyUsesRepo.ts"
import { nextExpiryNoticeAt } from "../../../src/accounts/api-keys/nextExpiryNoticeAt.ts"
import { dayMs } from "../../../src/core/milliseconds.ts"
import { testNow } from "../../support/TestApp.ts"

const now = new Date(testNow)
const daysAgo = (days: number) => new Date(testNow - days * dayMs)

const key = (ageInDays: number, ...scopes: ReadonlyArray<Scope>) => ({
  created_at: daysAgo(ageInDays),
  scopes
})

const use = (kind: KeyUseRow["kind"], what: string, at = now): KeyUseRow => ({
  api_key_id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
  kind,
  what,
  last_used_at: at
})

const read = use("scope", "tasks:read")
const from = use("address", "203.0.113.7")

describe("the suggestion for an API key", () => {
  it.each([
    ["uses all its scopes", key(60, "tasks:read"), [read, from], "keep", ["tasks:read"]],
    [
      "uses a part of its scopes",
      key(60, "tasks:read", "tasks:write"),
      [read, from],
      "narrow",
      ["tasks:read"]
    ],
    ["is not used", key(60, "tasks:read"), [], "revoke", []],
    ["uses only endpoints without a scope", key(60, "tasks:read"), [from], "keep", ["tasks:read"]],
    ["is younger than 30 days", key(29, "tasks:read"), [], "wait", ["tasks:read"]],
    ["is 30 days old", key(30, "tasks:read"), [], "revoke", []],
    [
      "is refused at all its addresses",
      key(60, "tasks:read"),
      [use("refused_address", "203.0.113.7")],
      "revoke",
      []
    ],
    [
      "used a scope that it no longer has",
      key(60, "tasks:write"),
      [read, from],
      "keep",
      ["tasks:write"]
    ]
  ] as const)("that %s", (_, row, uses, advice, scopes) => {
    const { suggestion } = keyUsage(row, uses, now)
    assert.deepStrictEqual(suggestion, { advice, scopes: [...scopes] })
  })

  it("counts from 90 days ago, or from the creation of the key", () => {
    const since = (days: number) => keyUsage(key(days, "tasks:read"), [], now).observed_since
    assert.strictEqual(since(10), daysAgo(10).toISOString())
    assert.strictEqual(since(1000), daysAgo(90).toISOString())
  })
})

describe("nextExpiryNoticeAt for a key that expires", () => {
  it.each([
    ["never", null, null],
    ["in a year", 365, 358],
    ["in 7 days", 7, 6],
    ["in 6 days", 6, 5],
    ["in a day", 1, null],
    ["in an hour", 1 / 24, null]
  ] as const)("%s", (_, inDays, warnedInDays) => {
    const warned = nextExpiryNoticeAt(inDays === null ? null : daysAgo(-inDays), now)
    assert.deepStrictEqual(warned, warnedInDays === null ? null : daysAgo(-warnedInDays))
  })
})
