import { assert, describe, it } from "@effect/vitest"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"
import { Effect, Redacted, Schema } from "effect"
import {
  redact,
  mask,
  openConfig,
  sealConfig
} from "../../src/notifications/channels/ChannelSecrets.ts"
import { decide, type Happening, type Trouble } from "../../src/notifications/sorting/decide.ts"
import { spanOf } from "../../src/notifications/sorting/describe.ts"
import { kinds } from "../../src/notifications/kinds.ts"
import { quietUntil } from "../../src/notifications/settings/quietHours.ts"
import { cut, cutBytes, oneLine } from "../../src/core/text.ts"
import { holdMs, waitMs, windowMs } from "../../src/notifications/sending/waits.ts"
import { Secrets } from "../../src/core/Secrets.ts"

const now = new Date("2026-06-01T12:00:00Z")
const settings = { task_failure_threshold: 3, remind_every_seconds: 3_600 }

const happening = (fields: Partial<Happening> = {}): Happening => ({
  workspace_id: "w",
  event: "task.failed",
  subject_id: "s",
  tags: [],
  at: now,
  once: false,
  reminder: false,
  ...fields
})

const after = (events: ReadonlyArray<Partial<Happening>>) => {
  let trouble: Trouble | undefined
  return events.map((fields) => {
    const decision = decide(trouble, happening(fields), settings, now)
    trouble = decision.trouble
    return decision.telling
  })
}

describe("What is told", () => {
  const failed = { event: "task.failed" } as const
  const recovered = { event: "task.recovered" } as const

  it("is a failure at the third in a row, once, and then its end", () => {
    assert.deepStrictEqual(after([failed, failed, failed, failed, recovered, recovered]), [
      undefined,
      undefined,
      "begun",
      undefined,
      "ended",
      undefined
    ])
  })

  it("is no end of what was not told", () => {
    assert.deepStrictEqual(after([failed, failed, recovered, failed, failed, failed]), [
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      "begun"
    ])
  })

  it("is a monitor at once, and what runs once in any case", () => {
    assert.deepStrictEqual(
      after([{ event: "monitor.down" }, { event: "monitor.up" }, { ...failed, once: true }]),
      ["begun", "ended", "other"]
    )
  })

  it("is a reminder only of what goes on", () => {
    const reminder = { ...failed, reminder: true }
    assert.deepStrictEqual(after([reminder, failed, reminder]), [undefined, undefined, undefined])
    assert.deepStrictEqual(after([failed, failed, failed, reminder]).at(-1), "reminder")
  })

  it("is everything else as it comes", () => {
    assert.deepStrictEqual(after([{ event: "quota.near" }, { event: "quota.near" }]), [
      "other",
      "other"
    ])
  })
})

describe("Quiet hours", () => {
  const quiet = { timezone: TimeZone.make("Europe/Berlin"), from: "22:00", to: "07:00" }

  it.each([
    ["2026-06-01T19:59:59Z", undefined],
    ["2026-06-01T20:00:00Z", "2026-06-02T05:00:00.000Z"],
    ["2026-06-02T04:59:59Z", "2026-06-02T05:00:00.000Z"],
    ["2026-06-02T05:00:00Z", undefined],
    // The nights in which clocks change.
    ["2026-03-28T23:30:00Z", "2026-03-29T05:00:00.000Z"],
    ["2026-10-25T00:30:00Z", "2026-10-25T06:00:00.000Z"]
  ])("at %s end at %s", (at, end) => {
    assert.strictEqual(quietUntil(quiet, new Date(at))?.toISOString(), end)
  })

  it("may be in the middle of the day, or none", () => {
    const noon = { ...quiet, timezone: TimeZone.make("UTC"), from: "11:30", to: "12:30" }
    assert.strictEqual(quietUntil(noon, now)?.toISOString(), "2026-06-01T12:30:00.000Z")
    assert.isUndefined(quietUntil(null, now))
  })
})

describe("Waits", () => {
  it("grow, and are never longer than half an hour and a bit", () => {
    const waits = Array.from({ length: 40 }, (_, index) => waitMs(index + 1, 0.5))
    assert.deepStrictEqual(waits.slice(0, 3), [2_000, 4_000, 8_000])
    assert.strictEqual(waits.at(-1), 30 * 60_000)
    assert.isAtMost(holdMs(1_000), 5 * 60_000)
  })

  it("of a group are short at first, double, and begin anew when it was quiet", () => {
    const second = { windowMs: 2_000, quietForMs: 2_000 }
    assert.strictEqual(windowMs(10, { windowMs: 0, quietForMs: null }), 1_000)
    assert.strictEqual(windowMs(10, second), 4_000)
    assert.strictEqual(windowMs(10, { windowMs: 8_000, quietForMs: 8_000 }), 10_000)
    assert.strictEqual(windowMs(10, { windowMs: 10_000, quietForMs: 21_000 }), 1_000)
    assert.strictEqual(windowMs(0, second), 0)
  })
})

describe("Texts", () => {
  it.prop("have one line and no half of a character", [Schema.String], ([text]) => {
    assert.notMatch(oneLine(text), /[\r\n\u0000\u2028\u2029]/)
    assert.isTrue(oneLine(text).isWellFormed())
  })

  it("are cut between characters", () => {
    assert.strictEqual(cut("abc", 3), "abc")
    assert.strictEqual(cut("ab\u{1F600}c", 4), "ab…")
    assert.isAtMost(Buffer.byteLength(cutBytes("\u{1F600}".repeat(20), 50)), 50)
    assert.isTrue(cutBytes("\u{1F600}".repeat(20), 50).isWellFormed())
  })

  it.each([
    [0, "0 s"],
    [61_000, "1 min 1 s"],
    [183_600_000, "2 d 3 h"]
  ])("say %i ms as %s", (ms, text) => assert.strictEqual(spanOf(ms), text))
})

describe("A secret", () => {
  const ring = Effect.map(Secrets, (service) => service.keys("notification-channel")).pipe(
    Effect.provide(Secrets.layerFrom(Redacted.make("one"), Redacted.make("two"))),
    Effect.runSync
  )

  it("shows its end only where that is little of it", () => {
    assert.strictEqual(mask("abcdefghijkl"), "••••ijkl")
    assert.strictEqual(mask("abcdefghijk"), "••••")
  })

  it("opens for the channel that it was sealed for, and no other", () => {
    const config = { server: "https://x.test", topic: "t", token: "tk_abcdefghijkl" }
    const sealed = sealConfig(ring, "channel", kinds.ntfy, config)
    assert.deepStrictEqual(sealed.config, { ...config, token: "••••ijkl" })
    assert.deepStrictEqual(openConfig(ring, "channel", kinds.ntfy, sealed)?.config, config)
    assert.isUndefined(openConfig(ring, "another", kinds.ntfy, sealed))
  })

  it("is missed by no channel that has none", () => {
    const config = { server: "https://x.test", topic: "t" }
    const sealed = sealConfig(ring, "channel", kinds.ntfy, config)
    assert.deepStrictEqual(openConfig(ring, "another", kinds.ntfy, sealed)?.config, config)
  })

  it.each([
    ["as it is", (secret: string) => secret],
    ["in a URL", encodeURIComponent],
    ["in JSON", (secret: string) => JSON.stringify({ secret })],
    [
      "in a Basic header",
      (secret: string) => Buffer.from(`bot@x.test:${secret}`).toString("base64")
    ],
    ["as a path", (secret: string) => new URL(secret).pathname],
    ["with escaped slashes", (secret: string) => secret.replaceAll("/", String.raw`\/`)]
  ])("is taken out of what a provider echoes %s", (_, echo) => {
    const secret = 'https://hooks.test/T0000/B0000/very"secret+part'
    const shown = redact(`you sent ${echo(secret)}.`, [secret])
    assert.include(shown, "••••")
    assert.notMatch(shown ?? "", /very|part/)
    const base = Buffer.from("very").toString("base64").slice(0, -3)
    assert.notInclude(shown, base)
  })

  it.each([
    ["Bearer supersecrettokenvalue", "supersecrettokenvalue"],
    ["Token  token=another-secret-token", "another-secret-token"],
    [`Basic ${Buffer.from("alerting-bot:hunter2hunter2").toString("base64")}`, "hunter2hunter2"],
    [`basic ${Buffer.from("alerting-bot:hunter2hunter2").toString("base64")}`, "alerting-bot"],
    ["Bearer super/secret+token", "super%2Fsecret%2Btoken"]
  ])("is taken out of what a provider echoes of %j: %s", (secret, echo) => {
    assert.strictEqual(redact(`the token ${echo} is wrong`, [secret]), "the token •••• is wrong")
  })

  it("leaves ordinary words where they are", () => {
    const said = "Basic or Bearer authorization was refused"
    assert.strictEqual(redact(said, ["Bearer supersecrettokenvalue", "Basic dTpw"]), said)
  })

  it("leaves no beginning of it where an answer is cut", () => {
    const secret = "Bearer supersecrettokenvalue"
    const cutAt = (end: string) => `${"x".repeat(10_000 - end.length)}${end}`
    assert.match(redact(cutAt("supersecr"), [secret]) ?? "", /^x+••••$/)
    assert.match(redact(cutAt("Bearer supersecrettoken"), [secret]) ?? "", /^x+••••$/)
    assert.strictEqual(redact("a supersecr", [secret]), "a supersecr")
  })
})
