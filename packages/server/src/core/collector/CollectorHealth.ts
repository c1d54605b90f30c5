import { Clock, Context, Effect } from "effect"
import { HttpClient } from "effect/http"

export const telemetrySignals = ["traces", "metrics", "logs"] as const
export type TelemetrySignal = (typeof telemetrySignals)[number]

export class CollectorState {
  readonly #problems = new Map<TelemetrySignal, string>()

  /**
   * The number of failed requests by signal. An export can count up to four failures, because it is
   * retried.
   */
  readonly failed: Record<TelemetrySignal, number> = { traces: 0, metrics: 0, logs: 0 }

  succeed(signal: TelemetrySignal): void {
    this.#problems.delete(signal)
  }

  fail(signal: TelemetrySignal, problem: string): void {
    this.failed[signal]++
    this.#problems.set(signal, problem)
  }

  get problem(): string | undefined {
    const [first] = this.#problems
    return first === undefined ? undefined : `${[...this.#problems.keys()].join(", ")}: ${first[1]}`
  }
}

/**
 * The state of the collector as one node sees it. A process has one such state, unless each of its
 * nodes provides its own.
 */
export const CollectorHealth = Context.Reference<CollectorState>(
  "@scheduling/server/core/collector/CollectorHealth",
  { defaultValue: () => new CollectorState() }
)

const signalOf = (url: string): TelemetrySignal | undefined =>
  telemetrySignals.find((one) => url.endsWith(`/${one}`))

/** Records the result of each request, because the exporters do not report their failures. */
export const recordExportResults = (client: HttpClient.HttpClient, collector: CollectorState) =>
  HttpClient.transform(client, (answer, { url }) => {
    const signal = signalOf(url)
    if (signal === undefined) return answer
    return answer.pipe(
      Effect.tap(({ status }) =>
        Effect.sync(() => {
          if (status < 300) collector.succeed(signal)
          else collector.fail(signal, `status ${status}`)
        })
      ),
      Effect.tapError((error) => Effect.sync(() => collector.fail(signal, rootMessage(error))))
    )
  })

/**
 * Returns the message of the innermost cause, because the outer errors often only say that a
 * request failed.
 */
const rootMessage = (error: Error): string =>
  error.cause instanceof Error ? rootMessage(error.cause) : error.message

const checkEveryMs = 5_000
const reportEveryMs = 60_000

/**
 * Logs when the collector starts to reject data, then once per minute, and when it recovers. The
 * exporters do not do this themselves, because the exporter of logs cannot log its own failure.
 */
export const logCollectorProblems = Effect.gen(function* () {
  const collector = yield* CollectorHealth
  let reportedMs: number | undefined
  for (;;) {
    yield* Effect.sleep(checkEveryMs)
    const { problem } = collector
    const nowMs = yield* Clock.currentTimeMillis
    if (problem === undefined) {
      if (reportedMs !== undefined)
        yield* Effect.logInfo("the OpenTelemetry collector accepts data again")
      reportedMs = undefined
    } else if (reportedMs === undefined || nowMs - reportedMs >= reportEveryMs) {
      reportedMs = nowMs
      yield* Effect.logWarning(`the OpenTelemetry collector does not accept ${problem}; retrying`)
    }
  }
})
