import { Effect, Exit } from "effect"

/**
 * Asks once for what concurrent requests want to know. `answerAll` returns an answer for each, in
 * their order. They share the fixed cost of a statement, here and in PostgreSQL. A full batch is
 * sent at once, so that PostgreSQL already works on the first requests while the others are read;
 * that makes a list 1.1 times as fast. The statement runs outside any transaction of the requests.
 *
 * The framework's `RequestResolver` does the same, but clears its sets of entries and reuses them.
 * V8 links a cleared table to its successor. Once a single table is old, every request since then
 * is kept until the next full collection, which made a list 25 µs slower.
 */
export const batched = <Asked, Answer>(
  answerAll: (asked: ReadonlyArray<Asked>) => Effect.Effect<ReadonlyArray<Answer>>,
  { maxBatch = 32 }: { readonly maxBatch?: number } = {}
): Effect.Effect<(asked: Asked) => Effect.Effect<Answer>> =>
  Effect.map(Effect.context<never>(), (services) => {
    const runFork = Effect.runForkWith(services)
    let open: Batch<Asked, Answer> | undefined

    const ask = (batch: Batch<Asked, Answer>) =>
      runFork(Effect.suspend(() => answerAll(batch.asked))).addObserver((exit) =>
        settle(batch, exit)
      )

    const gather = (): Batch<Asked, Answer> => {
      const batch: Batch<Asked, Answer> = { asked: [], resumes: [] }
      runFork(Effect.yieldNow).addObserver(() => {
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

// ---------------------------------------------------------------------------

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
