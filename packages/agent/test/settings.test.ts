import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { findMisspelledSettings, resolveSettings, readEnvironment } from "../src/settings.ts"

const token = `pwk_${"x".repeat(43)}`
const environment = {
  SCHEDULING_URL: "https://scheduling.example.com",
  SCHEDULING_WORKER_TOKEN: token
}
const resolve = (...sources: Parameters<typeof resolveSettings>[0]) =>
  resolveSettings(sources, () => "/tmp/status.json")

describe("agent settings", () => {
  it("are read from the environment, with defaults for the others", () => {
    const settings = Result.getOrThrow(resolve(readEnvironment(environment)))
    assert.strictEqual(settings.url.origin, environment.SCHEDULING_URL)
    assert.strictEqual(Redacted.value(settings.token), token)
    assert.notInclude(String(settings.token), token)
    assert.deepStrictEqual(
      [
        settings.slots,
        settings.allow,
        settings.labels,
        settings.drainSeconds,
        settings.watchCommands
      ],
      [16, [], undefined, 30, []]
    )
  })

  it("are suggested for misspelled variables", () => {
    const others = ["SCHEDULING_PORT", "SCHEDULING_SERVICE_HOST", "SCHEDULING_API_KEY", "HOME", ""]
    const wrong = ["SCHEDULING_SLOT", "SCHEDULING_URI", "SCHEDULINGLABELS"]
    const all = Object.fromEntries(
      [...Object.keys(environment), ...others, ...wrong].map((name) => [name, "x"])
    )
    assert.deepStrictEqual(findMisspelledSettings(all), [
      "SCHEDULING_SLOT is not a setting; did you mean SCHEDULING_SLOTS?",
      "SCHEDULING_URI is not a setting; did you mean SCHEDULING_URL?",
      "SCHEDULINGLABELS is not a setting; did you mean SCHEDULING_LABELS?"
    ])
  })

  it("are taken from the first source that has them", () => {
    const more = {
      ...environment,
      SCHEDULING_SLOTS: "5",
      SCHEDULING_LABELS: "office, gpu",
      SCHEDULING_WATCH_COMMANDS: "worker.js --queue mail"
    }
    const sources = [
      { slots: 3 },
      readEnvironment(more),
      { slots: 9, drain_seconds: 7, labels: ["x"] }
    ]
    const settings = Result.getOrThrow(resolve(...sources))
    assert.deepStrictEqual(
      [settings.slots, settings.labels, settings.drainSeconds, settings.watchCommands],
      [3, ["office", "gpu"], 7, ["worker.js --queue mail"]]
    )
  })

  it.each([
    ["http://127.0.0.1:4000/v1", "http://127.0.0.1:4000/"],
    ["https://example.com/scheduling/v1/", "https://example.com/scheduling"],
    ["https://example.com/v1x", "https://example.com/v1x"]
  ])("accept the URL %s with or without /v1", (url, href) => {
    assert.strictEqual(Result.getOrThrow(resolve({ url, token })).url.href, href)
  })

  it.each([
    [{ url: undefined }, "address of the service is missing"],
    [{ url: "ftp://x" }, "ftp://x is not an http or https URL"],
    [{ token: "pak_key" }, "the token is not a worker token"],
    [{ slots: 101 }, "slots must be a whole number from 1 to 100"],
    [{ slots: 1.5 }, "slots must be"],
    [{ drain_seconds: -1 }, "drain-seconds must be"],
    [{ allow: ["10.0.0.0/99"] }, "must have a prefix length"]
  ])("are refused with %j", (wrong, problem) => {
    const failed = resolve({ url: "https://x.test", token, ...wrong } as object)
    assert.isTrue(Result.isFailure(failed))
    if (Result.isFailure(failed)) assert.include(failed.failure.join("\n"), problem)
  })
})
