import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../core/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { AccountMails } from "../../mail/index.ts"
import type { UserRow } from "../users/UsersRepo.ts"
import { changeMail, type AccountChange } from "./changeMail.ts"

/**
 * Mails users about changes to the access to their account, so that they notice changes by others.
 */
export class ChangeMails extends Context.Service<
  ChangeMails,
  {
    /**
     * Sends a mail after the commit. Call it in the transaction of the change. An unverified
     * address gets no mail, because it could belong to a stranger.
     */
    readonly send: (
      user: Pick<UserRow, "email" | "email_verified_at">,
      change: AccountChange,
      origin: RequestOrigin
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/accounts/auth/ChangeMails") {
  static readonly layer: Layer.Layer<
    ChangeMails,
    never,
    AppConfig | AccountMails | SqlClient.SqlClient
  > = Layer.effect(
    ChangeMails,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { publicUrl } = yield* AppConfig
      const mails = yield* AccountMails

      return ChangeMails.of({
        send: Effect.fn("ChangeMails.send")(function* (
          { email, email_verified_at },
          change,
          { ip }
        ) {
          if (email_verified_at === null || mails.unavailable !== null) return
          const at = yield* DateTime.nowAsDate
          const mail = changeMail({ to: email, change, at, ip, publicUrl })
          yield* sql.afterCommit(
            mails.post(`a mail about a change (${change})`, Effect.succeed(mail))
          )
        })
      })
    })
  )
}
