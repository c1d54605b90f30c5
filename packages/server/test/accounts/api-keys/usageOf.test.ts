import { assert, describe, it } from "@effect/vitest"
import type { Scope } from "@scheduling/domain/api-keys/Scope"
import { keyUsage } from "../../../src/accounts/api-keys/keyUsage.ts"
import type { KeyUseRow } from "../../../src/accounts/api-keys/KeyUsesRepo.ts"
import { nextWarning } from "../../../src/accounts/api-keys/warnings.ts"
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

describe("the suggestion for a key", () => {
  it.each([
    ["uses all that it may", key(60, "tasks:read"), [read, from], "keep", ["tasks:read"]],
    ["uses a part", key(60, "tasks:read", "tasks:write"), [read, from], "narrow", ["tasks:read"]],
    ["is not used", key(60, "tasks:read"), [], "revoke", []],
    ["asks only who it is", key(60, "tasks:read"), [from], "keep", ["tasks:read"]],
    ["is young", key(29, "tasks:read"), [], "wait", ["tasks:read"]],
    ["is just old enough", key(30, "tasks:read"), [], "revoke", []],
    [
      "is refused wherever it comes from",
      key(60, "tasks:read"),
      [use("refused_address", "203.0.113.7")],
      "revoke",
      []
    ],
    ["used what it may no longer", key(60, "tasks:write"), [read, from], "keep", ["tasks:write"]]
  ] as const)("that %s", (_, row, uses, advice, scopes) => {
    const { suggestion } = keyUsage(row, uses, now)
    assert.deepStrictEqual(suggestion, { advice, scopes: [...scopes] })
  })

  it("counts from 90 days ago, or from when the key was made", () => {
    const since = (days: number) => keyUsage(key(days, "tasks:read"), [], now).observed_since
    assert.strictEqual(since(10), daysAgo(10).toISOString())
    assert.strictEqual(since(1000), daysAgo(90).toISOString())
  })
})

describe("the next warning of a key that expires", () => {
  it.each([
    ["never", null, null],
    ["in a year", 365, 358],
    ["in 7 days", 7, 6],
    ["in 6 days", 6, 5],
    ["in a day", 1, null],
    ["in an hour", 1 / 24, null]
  ] as const)("%s", (_, inDays, warnedInDays) => {
    const warned = nextWarning(inDays === null ? null : daysAgo(-inDays), now)
    assert.deepStrictEqual(warned, warnedInDays === null ? null : daysAgo(-warnedInDays))
  })
})
