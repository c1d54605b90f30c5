import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { AppConfig } from "../../../src/core/config/Config.ts"

const key = "-----BEGIN PRIVATE KEY-----\\nabc\\n-----END PRIVATE KEY-----"

const complete = {
  SMTP_URL: "smtp://user:very-secret@mail.example.com:587",
  MAIL_FROM: "Alerts <alerts@example.com>",
  PUBLIC_URL: "https://scheduling.example.com/",
  DKIM_DOMAIN: "example.com",
  DKIM_SELECTOR: "mail",
  DKIM_PRIVATE_KEY: key
}

const read = (env: Readonly<Record<string, string>>) =>
  AppConfig.pipe(
    Effect.provide(AppConfig.layer),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { ...env } })
    )
  )

describe("The configuration of mails", () => {
  it.effect("is accepted, and its secrets are not shown", () =>
    Effect.gen(function* () {
      const config = yield* read(complete)
      assert.deepInclude(config, {
        mailFrom: "Alerts <alerts@example.com>",
        publicUrl: "https://scheduling.example.com",
        dkimDomain: "example.com"
      })
      assert(config.dkimPrivateKey !== undefined)
      assert.include(Redacted.value(config.dkimPrivateKey), "\nabc\n")
      assert.notMatch(JSON.stringify(config), /very-secret|abc/)
    })
  )

  it.effect.each([
    ["SMTP_URL", "mail.example.com:25"],
    ["SMTP_URL", "http://mail.example.com"],
    ["MAIL_FROM", "nobody"],
    ["MAIL_FROM", "a@b, c@d"],
    ["PUBLIC_URL", "scheduling.example.com"],
    ["PUBLIC_URL", "https://user:pw@example.com"],
    ["PUBLIC_URL", "https://example.com/?x"],
    ["DKIM_DOMAIN", "not a name"],
    ["DKIM_PRIVATE_KEY", "abc"]
  ] as const)("names %s where it is %s", ([name, value]) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(read({ ...complete, [name]: value }))
      assert.match(message, new RegExp(`^${name}: [^\\n]+$`))
      assert.notInclude(message, "very-secret")
    })
  )

  it.effect.each([
    ["MAIL_FROM", /^SMTP_URL needs MAIL_FROM and PUBLIC_URL/],
    ["PUBLIC_URL", /^SMTP_URL needs MAIL_FROM and PUBLIC_URL/],
    ["DKIM_SELECTOR", /^DKIM_DOMAIN, DKIM_SELECTOR and DKIM_PRIVATE_KEY/],
    ["DKIM_PRIVATE_KEY", /^DKIM_DOMAIN, DKIM_SELECTOR and DKIM_PRIVATE_KEY/]
  ] as const)("is complete or refused: without %s", ([name, complaint]) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(read({ ...complete, [name]: "" }))
      assert.match(message, complaint)
    })
  )
})
