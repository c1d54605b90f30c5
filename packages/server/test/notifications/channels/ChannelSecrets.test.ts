import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Secrets } from "../../../src/core/Secrets.ts"
import {
  maskedSecret,
  decryptConfig,
  redactSecrets,
  sealConfig
} from "../../../src/notifications/channels/ChannelSecrets.ts"
import { channelKinds } from "../../../src/notifications/kinds/channelKinds.ts"

describe("A secret", () => {
  const ring = Effect.map(Secrets, (service) => service.keys("notification-channel")).pipe(
    Effect.provide(Secrets.layerFrom(Redacted.make("one"), Redacted.make("two"))),
    Effect.runSync
  )

  it("shows its end only if that is a small part of it", () => {
    assert.strictEqual(maskedSecret("abcdefghijkl"), "•••ijkl")
    assert.strictEqual(maskedSecret("abcdefghijk"), "•••")
  })

  it("decrypts only for the channel for which it was encrypted", () => {
    const config = { server: "https://x.test", topic: "t", token: "tk_abcdefghijkl" }
    const sealed = sealConfig(ring, "channel", channelKinds.ntfy, config)
    assert.deepStrictEqual(sealed.config, { ...config, token: "•••ijkl" })
    assert.deepStrictEqual(
      decryptConfig(ring, "channel", channelKinds.ntfy, sealed)?.config,
      config
    )
    assert.isUndefined(decryptConfig(ring, "another", channelKinds.ntfy, sealed))
  })

  it("is not required by channels without secrets", () => {
    const config = { server: "https://x.test", topic: "t" }
    const sealed = sealConfig(ring, "channel", channelKinds.ntfy, config)
    assert.deepStrictEqual(
      decryptConfig(ring, "another", channelKinds.ntfy, sealed)?.config,
      config
    )
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
    const shown = redactSecrets(`you sent ${echo(secret)}.`, [secret])
    assert.include(shown, "•••")
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
    assert.strictEqual(
      redactSecrets(`the token ${echo} is wrong`, [secret]),
      "the token ••• is wrong"
    )
  })

  it("does not mask ordinary words", () => {
    const said = "Basic or Bearer authorization was refused"
    assert.strictEqual(redactSecrets(said, ["Bearer supersecrettokenvalue", "Basic dTpw"]), said)
  })

  it("leaves no part of a secret in a truncated response", () => {
    const secret = "Bearer supersecrettokenvalue"
    const cutAt = (end: string) => `${"x".repeat(10_000 - end.length)}${end}`
    assert.match(redactSecrets(cutAt("supersecr"), [secret]) ?? "", /^x+•••$/)
    assert.match(redactSecrets(cutAt("Bearer supersecrettoken"), [secret]) ?? "", /^x+•••$/)
    assert.strictEqual(redactSecrets("a supersecr", [secret]), "a supersecr")
  })
})
