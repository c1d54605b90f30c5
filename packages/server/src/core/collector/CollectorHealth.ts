import { Clock, Context, Effect } from "effect"
import { HttpClient } from "effect/http"

export const signals = ["traces", "metrics", "logs"] as const
export type Signal = (typeof signals)[number]

/** How the collector took what was sent to it last. */
export class Collector {
  readonly #problems = new Map<Signal, string>()

  /** Requests that failed, by what they carried. Each export is tried up to four times. */
  readonly failed: Record<Signal, number> = { traces: 0, metrics: 0, logs: 0 }

  succeed(signal: Signal): void {
    this.#problems.delete(signal)
  }

  fail(signal: Signal, problem: string): void {
    this.failed[signal]++
    this.#problems.set(signal, problem)
  }

  /** What goes wrong now. Undefined if nothing does. */
  get problem(): string | undefined {
    const [first] = this.#problems
    return first === undefined ? undefined : `${[...this.#problems.keys()].join(", ")}: ${first[1]}`
  }
}

/** That of one node. The default is of the whole process. */
export const CollectorHealth = Context.Reference<Collector>(
  "@scheduling/server/core/collector/CollectorHealth",
  { defaultValue: () => new Collector() }
)

const signalOf = (url: string): Signal | undefined => signals.find((one) => url.endsWith(`/${one}`))

/** The exporters say nothing of their failures, so their requests are watched. */
export const watchedBy = (client: HttpClient.HttpClient, collector: Collector) =>
  HttpClient.transform(client, (answer, { url }) => {
    const signal = signalOf(url)
    if (signal === undefined) return answer
    return answer.pipe(
      Effect.tap(({ status }) =>
        Effect.sync(() => {
          if (status < 300) collector.succeed(signal)
          else collector.fail(signal, `it answers with ${status}`)
        })
      ),
      Effect.tapError((error) => Effect.sync(() => collector.fail(signal, innermost(error))))
    )
  })

/** What stands around the cause only says that there was one. */
const innermost = (error: Error): string =>
  error.cause instanceof Error ? innermost(error.cause) : error.message

const lookEveryMs = 5_000
const tellEveryMs = 60_000

/**
 * Tells when the collector begins to refuse what is sent, once per minute while it does, and when it
 * takes it again. Apart from the exporters, because that of the log runs where there is no log.
 */
export const tellOfCollector = Effect.gen(function* () {
  const collector = yield* CollectorHealth
  let toldMs: number | undefined
  for (;;) {
    yield* Effect.sleep(lookEveryMs)
    const { problem } = collector
    const nowMs = yield* Clock.currentTimeMillis
    if (problem === undefined) {
      if (toldMs !== undefined) yield* Effect.logInfo("the collector accepts data again")
      toldMs = undefined
    } else if (toldMs === undefined || nowMs - toldMs >= tellEveryMs) {
      toldMs = nowMs
      yield* Effect.logWarning(`the collector does not take ${problem}; trying again`)
    }
  }
})
