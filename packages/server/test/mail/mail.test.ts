import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { generateKeyPairSync } from "node:crypto"
import type { AppConfig } from "../../src/core/config/Config.ts"
import { Mailer } from "../../src/mail/Mailer.ts"
import { confirmationMail } from "../../src/notifications/channels/confirmationMail.ts"
import { alertMail } from "../../src/notifications/kinds/alertMail.ts"
import { configLayer } from "../notifications/support/nodes.ts"
import {
  deliveryId,
  downMessage,
  hostileMessage,
  subjectId
} from "../notifications/support/messages.ts"
import { startSmtpReceiver } from "../notifications/support/receivers.ts"

const unsubscribe = "https://scheduling.test/notifications/unsubscribe/token"

const toSomebody = (message = downMessage) => alertMail("ops@example.com", message, unsubscribe)

const sendTo = (url: string, mail = toSomebody(), config: Partial<AppConfig["Service"]> = {}) =>
  Effect.flatMap(Mailer, (mailer) => mailer.send(mail)).pipe(
    Effect.provide(Mailer.layer, { local: true }),
    Effect.provide(
      configLayer({
        smtpUrl: Redacted.make(url),
        mailFrom: "Alerts <alerts@scheduling.test>",
        publicUrl: "https://scheduling.test",
        ...config
      })
    )
  )

const at = (port: number, login = "") =>
  `smtp://${login}127.0.0.1:${port}?tls.rejectUnauthorized=false`

describe("A mail", () => {
  it.live("arrives over TLS, with the headers that mail programs expect", () =>
    Effect.gen(function* () {
      const smtp = yield* startSmtpReceiver({ password: "pass word" })
      const result = yield* sendTo(at(smtp.port, "somebody:pass%20word@"))
      assert.deepInclude(result, { outcome: "delivered", status_code: 250, error: null })
      const [mail] = smtp.mails
      assert(mail !== undefined)
      assert.isTrue(mail.secure)
      assert.strictEqual(mail.user, "somebody")
      assert.strictEqual(mail.from, "alerts@scheduling.test")
      assert.deepStrictEqual(mail.to, ["ops@example.com"])
      const header = (name: string) => mail.headers.get(name)
      assert.strictEqual(header("subject"), "[Acme] Failed: Nightly report")
      assert.strictEqual(header("message-id"), `<${deliveryId}@scheduling.test>`)
      assert.strictEqual(header("references"), `<${subjectId}@scheduling.test>`)
      assert.strictEqual(header("list-unsubscribe"), `<${unsubscribe}>`)
      assert.strictEqual(header("list-unsubscribe-post"), "List-Unsubscribe=One-Click")
      assert.strictEqual(header("auto-submitted"), "auto-generated")
      for (const part of [mail.text, mail.html]) {
        assert.include(part, "Nightly report")
        assert.include(part, "connection refused")
        assert.include(part, unsubscribe)
      }
    })
  )

  it.live("is signed if the operator has set a DKIM key", () =>
    Effect.gen(function* () {
      const smtp = yield* startSmtpReceiver()
      const { privateKey } = generateKeyPairSync("rsa", {
        modulusLength: 2048,
        privateKeyEncoding: { type: "pkcs8", format: "pem" },
        publicKeyEncoding: { type: "spki", format: "pem" }
      })
      yield* sendTo(at(smtp.port), toSomebody(), {
        dkimDomain: "scheduling.test",
        dkimSelector: "mail",
        dkimPrivateKey: Redacted.make(privateKey)
      })
      const signature = smtp.mails[0]?.headers.get("dkim-signature")
      assert.match(signature ?? "", /d=scheduling\.test;.*s=mail;/)
    })
  )

  it.live("gets no header and no recipient from a name", () =>
    Effect.gen(function* () {
      const smtp = yield* startSmtpReceiver()
      const result = yield* sendTo(at(smtp.port), toSomebody(hostileMessage))
      assert.strictEqual(result.outcome, "delivered", result.error ?? "")
      const [mail] = smtp.mails
      assert(mail !== undefined)
      assert.deepStrictEqual(mail.to, ["ops@example.com"])
      assert.isFalse(mail.headers.has("bcc"))
      assert.notInclude(mail.html, "<script")
    })
  )

  it.live.each([
    ["never gone", { code: 550, message: "5.1.1 no such user" }],
    ["again", { code: 450, message: "4.2.1 mailbox busy" }],
    ["again", { code: 550, message: "5.4.4 no route" }]
  ] as const)("is %s where its receiver is refused with %j", ([expected, refusal]) =>
    Effect.gen(function* () {
      const smtp = yield* startSmtpReceiver({ refuseReceiver: () => refusal })
      const result = yield* sendTo(at(smtp.port))
      const { error, gone, outcome, status_code } = result
      assert.strictEqual(gone ? `${outcome} gone` : outcome, expected)
      assert.strictEqual(status_code, refusal.code)
      assert.include(error, refusal.message)
    })
  )

  it.live("is given up if its content is rejected, and its address stays enabled", () =>
    Effect.gen(function* () {
      const smtp = yield* startSmtpReceiver({
        refuseMessage: () => ({ code: 554, message: "5.7.1 looks like spam" })
      })
      const result = yield* sendTo(at(smtp.port))
      assert.deepInclude(result, { outcome: "never", gone: false, status_code: 554 })
    })
  )

  it.live("is retried if the mail server rejects the login, and reveals nothing to users", () =>
    Effect.gen(function* () {
      const smtp = yield* startSmtpReceiver({ password: "right" })
      for (const url of [at(smtp.port, "somebody:verywrong@"), at(1), "smtp://nowhere.invalid"]) {
        const { error, gone, outcome } = yield* sendTo(url)
        assert.deepStrictEqual({ gone, outcome }, { gone: false, outcome: "again" })
        assert.notMatch(error ?? "", /verywrong|somebody|127\.0\.0\.1|nowhere/)
      }
    })
  )

  it.live("is sent without revealing the machine of the service", () =>
    Effect.gen(function* () {
      const smtp = yield* startSmtpReceiver()
      const link = "https://scheduling.test/notifications/confirm/token"
      const mail = confirmationMail(deliveryId, "a@example.com", "https://scheduling.test", link)
      yield* sendTo(at(smtp.port), mail)
      assert.include(smtp.mails[0]?.text, link)
      assert.include(smtp.mails[0]?.html, link)
    })
  )
})
