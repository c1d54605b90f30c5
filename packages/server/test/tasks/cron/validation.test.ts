import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, ask, statusAndError, times } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { setUpCron, minimalCron } from "./tasks.ts"

/** Changes that make a valid body invalid, with the paths that the error reports. */
const refused: ReadonlyArray<readonly [string, object, ReadonlyArray<ReadonlyArray<unknown>>]> = [
  ["a blank name", { name: " \t " }, [["name"]]],
  ["a name of 201 characters", { name: "x".repeat(201) }, [["name"]]],
  ["a name with a line break", { name: "a\nb" }, [["name"]]],
  ["a name that is null", { name: null }, [["name"]]],
  ["a url without a scheme", { url: "example.com/jobs" }, [["url"]]],
  ["another scheme", { url: "ftp://example.com/jobs" }, [["url"]]],
  ["a credential in the url", { url: "https://user:pass@example.com/" }, [["url"]]],
  ["a url of more than 2,048 characters", { url: `https://e.com/${"x".repeat(2048)}` }, [["url"]]],
  ["an unknown method", { method: "TRACE" }, [["method"]]],
  ["a method in lower case", { method: "post" }, [["method"]]],
  ["a header of the connection", { headers: { Host: "example.com" } }, [["headers", "Host"]]],
  ["a header of the service", { headers: { "webhook-id": "1" } }, [["headers", "webhook-id"]]],
  ["a header name with a space", { headers: { "a b": "1" } }, [["headers", "a b"]]],
  ["a line break in a header", { headers: { a: "1\r\nb: 2" } }, [["headers", "a"]]],
  ["a header that is a number", { headers: { a: 1 } }, [["headers", "a"]]],
  [
    "51 headers",
    { headers: Object.fromEntries(times(51, (index) => [`h${index}`, "1"])) },
    [["headers"]]
  ],
  ["a body over 256 KiB", { body: "x".repeat(256 * 1024 + 1) }, [["body"]]],
  ["a body over 256 KiB in UTF-8", { body: "é".repeat(128 * 1024 + 1) }, [["body"]]],
  ["a body over 256 KiB as JSON", { body: { full: "x".repeat(256 * 1024) } }, [["body"]]],
  ["a body with NUL", { body: "\u0000" }, [["body"]]],
  ["a timeout of 0", { timeout_seconds: 0 }, [["timeout_seconds"]]],
  ["a timeout of 901", { timeout_seconds: 901 }, [["timeout_seconds"]]],
  [
    "a timeout of a day and a second",
    { timeout_seconds: 86_401, completion: "callback" },
    [["timeout_seconds"]]
  ],
  ["an unknown completion", { completion: "later" }, [["completion"]]],
  [
    "the header that carries the URL",
    { headers: { "Scheduling-Complete-Url": "https://a.example" } },
    [["headers", "Scheduling-Complete-Url"]]
  ],
  ["a timeout of a second and a half", { timeout_seconds: 1.5 }, [["timeout_seconds"]]],
  ["11 retries", { retry_count: 11 }, [["retry_count"]]],
  ["negative retries", { retry_count: -1 }, [["retry_count"]]],
  ["retries as a string", { retry_count: "1" }, [["retry_count"]]],
  ["an abbreviation of a time zone", { timezone: "CEST" }, [["timezone"]]],
  ["an offset for a time zone", { timezone: "+02:00" }, [["timezone"]]],
  ["an unknown overlap", { overlap: "drop" }, [["overlap"]]],
  ["an unknown missed", { missed: "twice" }, [["missed"]]],
  ["an unknown dst_overlap", { dst_overlap: "last" }, [["dst_overlap"]]],
  ["an unknown field", { enabled: true }, [["enabled"]]],
  ["a field of the record", { status: "paused" }, [["status"]]],
  [
    "several things at once",
    { name: "", url: "/", timeout_seconds: 0, extra: 1 },
    [["name"], ["url"], ["timeout_seconds"], ["extra"]]
  ]
]

const schedules: ReadonlyArray<readonly [string, RegExp]> = [
  ["60 * * * *", /minute/],
  ["* 24 * * *", /hour/],
  ["* * 0 * *", /day.of.month/i],
  ["* * * 13 *", /month/],
  ["* * * * 8", /day.of.week/i],
  ["*/0 * * * *", /minute/],
  ["* * * FEB-FOO *", /month/],
  ["* * * *", /five|5/],
  ["* * * * * *", /five|5/],
  ["0 0 30 2 *", /never|day/],
  ["@reboot", /@daily/],
  ["", /five|5/]
]

const pathsOf = (answer: Answer) =>
  answer.body.detail.issues.map(({ path }: { readonly path: unknown }) => path)

layer(testAppLayer())("the body of a cron task", (it) => {
  it.effect("is rejected with the path of what is wrong, in a create and in a change", () =>
    Effect.gen(function* () {
      const { cron } = yield* setUpCron
      const { body: task } = yield* cron.create()
      for (const [problem, change, paths] of refused) {
        for (const answer of [yield* cron.create(change), yield* cron.update(task.id, change)]) {
          assert.strictEqual(statusAndError(answer), "422 validation_failed", problem)
          assert.sameDeepMembers(
            [...new Set(pathsOf(answer).map(String))],
            paths.map(String),
            problem
          )
          for (const { message } of answer.body.detail.issues) assert.isNotEmpty(message)
        }
      }
      assert.deepStrictEqual((yield* cron.list()).body.data, [task])
    })
  )

  it.effect("names the field of the schedule that is wrong", () =>
    Effect.gen(function* () {
      const { cron } = yield* setUpCron
      for (const [schedule, named] of schedules) {
        const answer = yield* cron.create({ schedule })
        assert.strictEqual(statusAndError(answer), "422 validation_failed", schedule)
        assert.deepStrictEqual(pathsOf(answer)[0], ["schedule"], schedule)
        assert.match(answer.body.detail.issues[0].message, named, schedule)
      }
    })
  )

  it.effect("needs a name, a url and a schedule, and nothing else", () =>
    Effect.gen(function* () {
      const { key: token, member } = yield* setUpCron
      const path = `${member.workspace}/cron`
      for (const field of Object.keys(minimalCron)) {
        const body = Object.fromEntries(
          Object.entries(minimalCron).filter(([name]) => name !== field)
        )
        const answer = yield* ask("POST", path, { token, body })
        assert.strictEqual(statusAndError(answer), "422 validation_failed", field)
        assert.deepStrictEqual(pathsOf(answer), [[field]])
      }
      const empty = yield* ask("POST", path, { token, body: {} })
      // The rule that requires a schedule or an interval is checked only if each field is valid by
      // itself.
      assert.sameDeepMembers(pathsOf(empty), [["name"], ["url"]])
      assert.strictEqual(
        statusAndError(yield* ask("POST", path, { token, body: "{" })),
        "400 malformed_json"
      )
      const form = { "content-type": "text/plain" }
      const text = yield* ask("POST", path, { token, body: "{}", headers: form })
      assert.strictEqual(statusAndError(text), "415 unsupported_media_type")
      const large = yield* ask("POST", path, { token, body: { body: "x".repeat(1 << 20) } })
      assert.strictEqual(statusAndError(large), "413 payload_too_large")
    })
  )

  it.effect("is accepted up to the bounds", () =>
    Effect.gen(function* () {
      const { cron } = yield* setUpCron
      for (const change of [
        { name: "x".repeat(200) },
        { name: "Отчёт 🎉" },
        { url: `https://example.com/${"x".repeat(2048 - 20)}` },
        { headers: Object.fromEntries(times(50, (index) => [`h${index}`, "1"])) },
        { body: "x".repeat(256 * 1024) },
        { body: "" },
        { body: null },
        { timeout_seconds: 1, retry_count: 0 },
        { timeout_seconds: 900, retry_count: 10 },
        { schedule: "0-59/5,7 0 1,15 JAN-MAR,12 SUN,2-4" },
        { timezone: "America/Argentina/Buenos_Aires" }
      ]) {
        const answer = yield* cron.create(change)
        assert.strictEqual(answer.status, 201, answer.text.slice(0, 300))
        for (const [field, value] of Object.entries(change)) {
          assert.deepStrictEqual(answer.body[field], value)
        }
      }
    })
  )
})
