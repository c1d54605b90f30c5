import { Effect, Exit } from "effect"

/**
 * Asks once for all that requests of one moment want to know: `answerAll` gives an answer for each, in
 * their order. What a statement costs by itself, here and in PostgreSQL, is shared. A batch that is
 * full does not wait for the end of the moment, so that PostgreSQL is at work on the first requests
 * while the others are read: a list is 1.1 times as fast by that. It is asked outside of any
 * transaction of those who want to know.
 *
 * The framework's `RequestResolver` does the same, but clears its sets of entries and uses them again.
 * V8 links a table that was cleared to the one after it, so that once a single table is old every
 * request since then is kept until the next full collection: a list was 25 µs slower by that.
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
