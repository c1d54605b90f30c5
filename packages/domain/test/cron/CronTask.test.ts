import { assert, describe, it } from "@effect/vitest"
import { CronTaskInput, CronTaskUpdate, PreviewQuery } from "@scheduling/domain/cron/CronTask"
import { Schema, Struct } from "effect"
import { issuesOf } from "../support/issues.ts"

const least = { name: "Nightly", url: "https://example.com/jobs", schedule: "0 3 * * *" }
const refusedAt = (fields: object) =>
  issuesOf(CronTaskInput, { ...least, ...fields }).map(([path]) => path)

describe("a cron task", () => {
  it("needs a name, a url and a schedule or an interval", () => {
    assert.deepStrictEqual(issuesOf(CronTaskInput, least), [])
    assert.deepStrictEqual(
      issuesOf(CronTaskInput, {}).map(([path]) => path),
      ["name", "url"]
    )
    const without = Struct.omit(least, ["schedule"])
    assert.deepStrictEqual(
      issuesOf(CronTaskInput, without).map(([path]) => path),
      ["schedule"]
    )
    assert.deepStrictEqual(issuesOf(CronTaskInput, { ...without, every: "90m" }), [])
  })

  it("takes the request that the seed shows", () => {
    const body = {
      name: "Nightly report",
      url: "https://api.example.com/report",
      method: "POST",
      schedule: "0 3 * * *",
      headers: { "Content-Type": "application/json" },
      body: '{"full":true}',
      timeout_seconds: 30,
      retry_count: 3
    }
    assert.deepStrictEqual(Schema.decodeUnknownSync(CronTaskInput)(body), body as never)
  })

  it.each([
    ["name", " "],
    ["name", "x".repeat(201)],
    ["url", "ftp://example.com/"],
    ["url", "/jobs"],
    ["schedule", "* * * *"],
    ["schedule", "60 * * * *"],
    ["method", "post"],
    ["method", "TRACE"],
    ["headers", { a: 1 }],
    ["headers", { host: "example.com" }],
    ["headers", { "x-a": "a\r\nb: c" }],
    ["body", "x".repeat(262_145)],
    ["body", "é".repeat(131_073)],
    ["body", "\u0000"],
    ["timeout_seconds", 0],
    ["timeout_seconds", 901],
    ["timeout_seconds", 1.5],
    ["timeout_seconds", "30"],
    ["retry_count", -1],
    ["retry_count", 11],
    ["success_codes", []],
    ["success_codes", ["99"]],
    ["success_codes", ["300-200"]],
    ["success_codes", ["200 - 299"]],
    ["success_codes", ["2xx"]],
    ["success_codes", [200]],
    ["success_codes", Array.from({ length: 11 }, () => "200")],
    ["body_contains", ""],
    ["body_contains", "x".repeat(501)],
    ["body_lacks", "\u0000"],
    ["retry", 3],
    ["retry", {}],
    ["retry", { count: 11 }],
    ["retry", { count: 1, first_seconds: 0 }],
    ["retry", { count: 1, factor: 0.5 }],
    ["retry", { count: 1, max_seconds: 86_401 }],
    ["retry", { count: 1, pause: 5 }],
    ["timezone", "+02:00"],
    ["timezone", "Europe/Nowhere"],
    ["overlap", "never"],
    ["missed", "twice"],
    ["dst_overlap", "second"],
    ["status", "paused"],
    ["extra", 1]
  ])("refuses %s where it is wrong (%#)", (field, value) => {
    const paths = refusedAt({ [field]: value })
    assert.strictEqual(paths.length, 1)
    assert.strictEqual(paths[0]?.split(".")[0], field)
  })

  it.each([
    ["body", null],
    ["body", ""],
    ["body", "x".repeat(262_144)],
    ["body", "é".repeat(131_072)],
    ["headers", {}],
    ["timeout_seconds", 900],
    ["retry_count", 0],
    ["success_codes", ["200-299", "404", "599"]],
    ["success_codes", null],
    ["body_contains", "x".repeat(500)],
    ["body_lacks", null],
    ["retry", { count: 10, first_seconds: 86_400, factor: 1, max_seconds: 1 }],
    ["retry", null],
    ["timezone", "Europe/Berlin"],
    ["overlap", "queue"]
  ])("takes %s where it is right (%#)", (field, value) => {
    assert.deepStrictEqual(refusedAt({ [field]: value }), [])
  })

  it("reports all mistakes together", () => {
    assert.sameMembers(refusedAt({ url: "nope", retry_count: 99, method: "X" }), [
      "url",
      "retry_count",
      "method"
    ])
  })

  it("may be changed in any of its fields, with the same rules", () => {
    assert.deepStrictEqual(Schema.decodeUnknownSync(CronTaskUpdate)({}), {})
    assert.deepStrictEqual(issuesOf(CronTaskUpdate, { schedule: "0 4 * * *", body: null }), [])
    assert.deepStrictEqual(
      issuesOf(CronTaskUpdate, { schedule: "nope", id: "x" }).map(([path]) => path),
      ["id", "schedule"]
    )
  })

  it("previews 1 to 100 firings", () => {
    const query = Schema.Struct(PreviewQuery)
    assert.deepStrictEqual(issuesOf(query, { schedule: "0 3 * * *" }), [])
    assert.strictEqual(issuesOf(query, { schedule: "0 3 * * *", count: 101 }).length, 1)
    assert.deepStrictEqual(issuesOf(query, { every: "90m", count: 5 }), [])
  })
})
