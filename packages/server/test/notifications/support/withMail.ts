import { Context, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "../../engine/runner/support/tasks.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { type ReceivedMail, smtpReceiver } from "./receivers.ts"

export class Mails extends Context.Service<Mails, ReadonlyArray<ReceivedMail>>()(
  "@scheduling/server/test/Mails"
) {}

/** The service with a real mail server. */
export const testAppWithMail = Layer.unwrap(
  Effect.map(smtpReceiver(), ({ mails, port }) =>
    Layer.provideMerge(
      Layer.succeed(Mails, mails),
      testAppLayer({
        smtpUrl: Redacted.make(`smtp://127.0.0.1:${port}?tls.rejectUnauthorized=false`),
        mailFrom: "service@scheduling.test",
        publicUrl: "https://scheduling.test"
      })
    )
  )
)

/** Waits for this number of mails with the subject, and returns the last one. */
export const mailTo = Effect.fnUntraced(function* (email: string, subject: string, count = 1) {
  const mails = yield* Mails
  const received = yield* TestClock.withLive(
    eventually(
      Effect.sync(() =>
        mails.filter(({ headers, to }) => to.includes(email) && headers.get("subject") === subject)
      ),
      (found) => found.length >= count
    )
  )
  return received.at(-1)!
})
