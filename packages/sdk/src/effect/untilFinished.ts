import { Clock, Data, Duration, Effect } from "effect"
import { serverWaitMs, nextPauseMs } from "../reading/waitPace.ts"

/** The run did not finish in time. It continues, and you can wait for it again. */
export class WaitTimeout extends Data.TaggedError("WaitTimeout")<{
  readonly timeout: Duration.Duration
}> {
  override get message() {
    return `The run had not finished within ${Duration.format(this.timeout)}; it continues`
  }
}

/**
 * Waits until an execution or a chain run has finished, with any `status`. The service delays each
 * response for up to 30 seconds, and is polled until the timeout.
 *
 * ```ts
 * untilFinished((wait_seconds) => client.executions.get({ params, query: { wait_seconds } }))
 * ```
 */
export const untilFinished = Effect.fnUntraced(function* <
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
    const record = yield* ask(serverWaitMs(endsAt - askedAt) / 1_000)
    if (record.finished_at !== null) return record
    const answeredAt = yield* Clock.currentTimeMillis
    if (answeredAt >= endsAt) return yield* new WaitTimeout({ timeout })
    yield* Effect.sleep(nextPauseMs(answeredAt - askedAt, endsAt - answeredAt))
  }
})
