import { Context, Effect, Layer, Schedule } from "effect"
import { Ids } from "../core/index.ts"
import { layoutMail, type MailContent } from "./layoutMail.ts"
import { Mailer } from "./Mailer.ts"

/**
 * Sends account emails after the response, so that the response time reveals nothing and does not
 * depend on the mail server.
 */
export class AccountMails extends Context.Service<
  AccountMails,
  {
    /** Why no email can be sent. Null if emails can be sent. */
    readonly unavailable: string | null
    /** Sends an email. If it cannot be sent, `what` identifies it in the log. */
    readonly post: (
      what: string,
      content: Effect.Effect<MailContent | undefined>
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/mail/AccountMails") {
  static readonly layer: Layer.Layer<AccountMails, never, Ids | Mailer> = Layer.effect(
    AccountMails,
    Effect.gen(function* () {
      const ids = yield* Ids
      const mailer = yield* Mailer
      const scope = yield* Effect.scope

      const send = Effect.fnUntraced(function* (
        what: string,
        makeContent: Effect.Effect<MailContent | undefined>
      ) {
        const content = yield* makeContent
        if (content === undefined) return
        const mail = layoutMail(yield* ids.next, content)
        const { error } = yield* Effect.repeat(mailer.send(mail), {
          schedule: Schedule.exponential("5 seconds"),
          times: 3,
          while: ({ outcome }) => outcome === "again"
        })
        if (error !== null) yield* Effect.logWarning(`${what} was not sent: ${error}`)
      })

      return AccountMails.of({
        unavailable: mailer.unavailable,
        post: (what, content) =>
          Effect.asVoid(
            Effect.forkIn(
              Effect.catchCause(send(what, content), (cause) =>
                Effect.logError(`${what} was not sent`, cause)
              ),
              scope
            )
          )
      })
    })
  )
}
