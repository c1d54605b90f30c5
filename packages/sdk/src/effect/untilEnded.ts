import { Clock, Data, Duration, Effect } from "effect"
import { askForMs, nextPauseMs } from "../reading/waitPace.ts"

/** It had not ended in time. It goes on and can be waited for again. */
export class WaitTimeout extends Data.TaggedError("WaitTimeout")<{
  readonly timeout: Duration.Duration
}> {
  override get message() {
    return `It had not ended within ${Duration.format(this.timeout)}; it goes on`
  }
}

/**
 * Waits until an execution or the run of a chain has ended, in whatever way: look at `status`. The
 * service holds each answer for up to 30 seconds, and is asked again until the time is up.
 *
 * ```ts
 * untilEnded((wait_seconds) => client.executions.get({ params, query: { wait_seconds } }))
 * ```
 */
export const untilEnded = Effect.fnUntraced(function* <
  A extends { readonly finished_at: string | null },
  E,
  R
>(
  ask: (wait_seconds: number) => Effect.Effect<A, E, R>,
  options: { readonly timeout?: Duration.Input | undefined } = {}
) {
  const timeout = Duration.fromInputUnsafe(options.timeout ?? "5 minutes")
  const endsAt = (yield* Clock.currentTimeMillis) + Duration.toMillis(timeout)
  for (;;) {
    const askedAt = yield* Clock.currentTimeMillis
    const record = yield* ask(askForMs(endsAt - askedAt) / 1_000)
    if (record.finished_at !== null) return record
    const answeredAt = yield* Clock.currentTimeMillis
    if (answeredAt >= endsAt) return yield* new WaitTimeout({ timeout })
    yield* Effect.sleep(nextPauseMs(answeredAt - askedAt, endsAt - answeredAt))
  }
})
