import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { AccountEvents } from "../../../src/accounts/AccountEvents.ts"
import { AuditLog } from "../../../src/accounts/audit/AuditLog.ts"
import { EmailLinks } from "../../../src/accounts/email/EmailLinks.ts"
import { Throttle } from "../../../src/accounts/throttle/Throttle.ts"
import { UserLinksRepo } from "../../../src/accounts/users/UserLinksRepo.ts"
import { UsersRepo } from "../../../src/accounts/users/UsersRepo.ts"
import { AppConfig, Secrets, Waker } from "../../../src/core/index.ts"
import { AccountMails } from "../../../src/mail/index.ts"
import type { MailContent } from "../../../src/mail/layoutMail.ts"
import { UsageRepo } from "../../../src/plans/index.ts"
import { testConfig } from "../../support/TestApp.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"

const posted: Array<MailContent | undefined> = []

const EmailLinksLayer = EmailLinks.layer.pipe(
  Layer.provide([
    Layer.succeed(AppConfig, { ...testConfig, publicUrl: "https://scheduling.test" }),
    Layer.mock(AccountEvents)({}),
    Layer.mock(AccountMails)({
      unavailable: null,
      post: (_what, content) => Effect.map(content, (mail) => void posted.push(mail))
    }),
    Layer.mock(AuditLog)({ recorded: new Waker() }),
    Layer.mock(Throttle)({}),
    Layer.mock(UsageRepo)({}),
    Secrets.layerFrom(testConfig.appSecret!),
    UserLinksRepo.layer
  ]),
  Layer.provideMerge(UsersRepo.layer),
  Layer.provideMerge(TestDatabaseLayer)
)

layer(EmailLinksLayer)("an email's link", (it) => {
  it.effect("is not sent to an address that was replaced before it was created", () =>
    Effect.gen(function* () {
      const [links, sql, users] = [yield* EmailLinks, yield* SqlClient.SqlClient, yield* UsersRepo]
      const row = Option.getOrThrow(
        yield* users.insert({
          id: randomUUID(),
          email: "ada@example.com",
          email_verified_at: null,
          pending_email: "attacker@example.com",
          name: null,
          has_password: true,
          password_hash: "x",
          lane: 1n,
          created_at: new Date("2026-06-01T12:00:00.000Z")
        })
      )
      yield* sql`
        UPDATE users
        SET pending_email = 'victim@example.com'
        WHERE id = ${row.id}`
      yield* links.post(row)
      assert.isEmpty(posted)
      assert.isEmpty(yield* sql`SELECT FROM user_links`)

      yield* links.post(Option.getOrThrow(yield* users.find(row.id)))
      assert.deepStrictEqual(
        posted.map((mail) => mail?.to),
        ["victim@example.com"]
      )
    })
  )
})
