import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../core/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { AccountMails } from "../../mail/index.ts"
import type { UserRow } from "../users/UsersRepo.ts"
import { accountChangeMail, type AccountChange } from "./accountChangeMail.ts"

/** Emails users when the access to their account changes, so that they notice changes by others. */
export class AccountChangeMails extends Context.Service<
  AccountChangeMails,
  {
    /**
     * Sends an email after the commit. Call it in the transaction of the change. Nothing is sent to
     * an unverified address, because it could belong to a stranger.
     */
    readonly send: (
      user: Pick<UserRow, "email" | "email_verified_at">,
      change: AccountChange,
      origin: RequestOrigin
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/accounts/auth/AccountChangeMails") {
  static readonly layer: Layer.Layer<
    AccountChangeMails,
    never,
    AppConfig | AccountMails | SqlClient.SqlClient
  > = Layer.effect(
    AccountChangeMails,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { publicUrl } = yield* AppConfig
      const mails = yield* AccountMails

      return AccountChangeMails.of({
        send: Effect.fn("AccountChangeMails.send")(function* (
          { email, email_verified_at },
          change,
          { ip }
        ) {
          if (email_verified_at === null || mails.unavailable !== null) return
          const at = yield* DateTime.nowAsDate
          const mail = accountChangeMail({ to: email, change, at, ip, publicUrl })
          yield* sql.afterCommit(
            mails.post(`a mail about a change (${change})`, Effect.succeed(mail))
          )
        })
      })
    })
  )
}
