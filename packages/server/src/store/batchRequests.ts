import { Effect, Exit } from "effect"

/**
 * Serves concurrent requests with one statement, so that they share its fixed cost. `answerAll`
 * returns a result for each request, in order. A full batch is sent immediately, so that PostgreSQL
 * works on the first requests while further requests are read; this makes list requests 1.1 times
 * as fast. The statement runs outside of any transaction of the requests.
 *
 * The framework's `RequestResolver` does the same, but clears its sets of entries and reuses them.
 * V8 links a cleared table to its successor. Once one table is old, every later request is
 * therefore kept until the next full collection, which made a list 25 µs slower.
 *
 * With `apartMs`, batches are at least this far apart. A request that arrives after a longer pause
 * is not delayed.
 */
export const batchRequests = <Asked, Answer>(
  answerAll: (asked: ReadonlyArray<Asked>) => Effect.Effect<ReadonlyArray<Answer>>,
  { apartMs = 0, maxBatch = 32 }: { readonly apartMs?: number; readonly maxBatch?: number } = {}
): Effect.Effect<(asked: Asked) => Effect.Effect<Answer>> =>
  Effect.map(Effect.context<never>(), (services) => {
    const runFork = Effect.runForkWith(services)
    let open: Batch<Asked, Answer> | undefined
    let askedAtMs = Number.NEGATIVE_INFINITY

    const ask = (batch: Batch<Asked, Answer>) => {
      if (apartMs > 0) askedAtMs = performance.now()
      runFork(Effect.suspend(() => answerAll(batch.asked))).addObserver((exit) =>
        settle(batch, exit)
      )
    }

    const gathered = () => {
      const restMs = apartMs > 0 ? askedAtMs + apartMs - performance.now() : 0
      return restMs > 0 ? pause(restMs) : Effect.yieldNow
    }

    const gather = (): Batch<Asked, Answer> => {
      const batch: Batch<Asked, Answer> = { asked: [], resumes: [] }
      runFork(gathered()).addObserver(() => {
        if (open !== batch) return
        open = undefined
        ask(batch)
      })
      return batch
    }

    return (asked) =>
      Effect.callback((resume) => {
        open ??= gather()
        const batch = open
        batch.asked.push(asked)
        batch.resumes.push(resume)
        if (batch.asked.length < maxBatch) return
        open = undefined
        ask(batch)
      })
  })

/** Waits in real time, even with a test clock, because the pause limits the load. */
const pause = (ms: number) =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), ms)
    return Effect.sync(() => clearTimeout(timer))
  })

interface Batch<Asked, Answer> {
  readonly asked: Array<Asked>
  readonly resumes: Array<(answer: Exit.Exit<Answer>) => void>
}

const settle = <Asked, Answer>(
  { resumes }: Batch<Asked, Answer>,
  exit: Exit.Exit<ReadonlyArray<Answer>>
) => {
  resumes.forEach((resume, index) => resume(Exit.map(exit, (answers) => answers[index] as Answer)))
}
