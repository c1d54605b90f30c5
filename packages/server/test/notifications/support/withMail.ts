import { Context, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "../../engine/runner/support/tasks.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { type ReceivedMail, startSmtpReceiver } from "./receivers.ts"

export class Mails extends Context.Service<Mails, ReadonlyArray<ReceivedMail>>()(
  "@scheduling/server/test/Mails"
) {}

/** The service with a real mail server. It sends notifications only if `runner` is on. */
export const appWithMail = (runner: "on" | "off") =>
  Layer.unwrap(
    Effect.map(startSmtpReceiver(), ({ mails, port }) =>
      Layer.provideMerge(
        Layer.succeed(Mails, mails),
        testAppLayer({
          runner,
          smtpUrl: Redacted.make(`smtp://127.0.0.1:${port}?tls.rejectUnauthorized=false`),
          mailFrom: "service@scheduling.test",
          publicUrl: "https://scheduling.test"
        })
      )
    )
  )

export const testAppWithMail = appWithMail("off")

/** Waits until this number of emails with the subject have arrived, and returns the last one. */
export const waitForMail = Effect.fnUntraced(function* (email: string, subject: string, count = 1) {
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
