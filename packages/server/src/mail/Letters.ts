import { Context, Effect, Layer, Schedule } from "effect"
import { Ids } from "../core/index.ts"
import { type Letter, letterOf } from "./letterOf.ts"
import { Mailer } from "./Mailer.ts"

/** Sends letters after the answer, so that its time tells nothing and no mail server delays it. */
export class Letters extends Context.Service<
  Letters,
  {
    /** Why no letter can be sent. */
    readonly unavailable: string | null
    /** `what` is its name in the log, if it could not be sent. */
    readonly post: (what: string, letter: Effect.Effect<Letter | undefined>) => Effect.Effect<void>
  }
>()("@scheduling/server/mail/Letters") {
  static readonly layer: Layer.Layer<Letters, never, Ids | Mailer> = Layer.effect(
    Letters,
    Effect.gen(function* () {
      const ids = yield* Ids
      const mailer = yield* Mailer
      const scope = yield* Effect.scope

      const send = Effect.fnUntraced(function* (
        what: string,
        makeLetter: Effect.Effect<Letter | undefined>
      ) {
        const letter = yield* makeLetter
        if (letter === undefined) return
        const mail = letterOf(yield* ids.next, letter)
        const { error } = yield* Effect.repeat(mailer.send(mail), {
          schedule: Schedule.exponential("5 seconds"),
          times: 3,
          while: ({ outcome }) => outcome === "again"
        })
        if (error !== null) yield* Effect.logWarning(`${what} was not sent: ${error}`)
      })

      return Letters.of({
        unavailable: mailer.unavailable,
        post: (what, letter) =>
          Effect.asVoid(
            Effect.forkIn(
              Effect.catchCause(send(what, letter), (cause) =>
                Effect.logError(`${what} was not sent`, cause)
              ),
              scope
            )
          )
      })
    })
  )
}
